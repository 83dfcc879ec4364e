// The colour of a brand, made readable: people who see less read the pages too (WCAG 2.2, success criterion 1.4.3).

/** An accent on light or on dark paper, and the text that stands on it. */
export interface Accent {
  readonly colour: string;
  readonly onColour: string;
}

type Rgb = readonly [red: number, green: number, blue: number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
const leastContrast = 4.5;
const steps = 50;

/** The nearest colour to a given one that is read on a paper: mixed with black or white, as little as it takes. */
export function accentOn(paper: string, colour: string): Accent {
  const background = rgbOf(paper);
  const requested = rgbOf(colour);
  const opposite = contrast(background, white) > contrast(background, black) ? white : black;
  const mixes = Array.from({ length: steps + 1 }, (_, step) => mixed(requested, opposite, step / steps));
  const accent = mixes.find((mix) => contrast(mix, background) >= leastContrast) ?? opposite;
  const isDark = contrast(accent, white) >= contrast(accent, black);
  return { colour: textOf(accent), onColour: textOf(isDark ? white : black) };
}

/** @param colour `#0b57d0` */
function rgbOf(colour: string): Rgb {
  const part = (start: number): number => Number.parseInt(colour.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}

function textOf(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function mixed(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (channel: 0 | 1 | 2): number =>
    Math.round(from[channel] + (to[channel] - from[channel]) * share);
  return [part(0), part(1), part(2)];
}

/** From 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
