// Adjusts the accent colour of a brand until its contrast suffices (WCAG 2.2, success criterion 1.4.3).

/** An accent colour for one background, and the colour of text on it. */
export interface Accent {
  readonly colour: string;
  readonly onColour: string;
}

type Rgb = readonly [red: number, green: number, blue: number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
const minContrast = 4.5;
const steps = 50;

/** Mixes a colour with as little black or white as gives it enough contrast to a background. */
export function accentOn(backgroundColour: string, colour: string): Accent {
  const background = rgbOf(backgroundColour);
  const requested = rgbOf(colour);
  const opposite = contrast(background, white) > contrast(background, black) ? white : black;
  const mixes = Array.from({ length: steps + 1 }, (_, step) => mixed(requested, opposite, step / steps));
  const accent = mixes.find((mix) => contrast(mix, background) >= minContrast) ?? opposite;
  const isDark = contrast(accent, white) >= contrast(accent, black);
  return { colour: hexColor(accent), onColour: hexColor(isDark ? white : black) };
}

/** @param colour `#0b57d0` */
function rgbOf(colour: string): Rgb {
  const part = (start: number): number => Number.parseInt(colour.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}

function hexColor(rgb: Rgb): string {
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
