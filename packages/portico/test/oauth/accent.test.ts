// The contrast of a brand's colour.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { accentOn } from "../../src/oauth/pages/accent.ts";

const papers = ["#ffffff", "#1c2128"];

/** WCAG 2.2: relative luminance and contrast ratio. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const [red, green, blue] = [1, 3, 5].map((start) => {
      const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

test("any colour gets enough contrast on both backgrounds, and so does the text on it", () => {
  const colours = fc
    .integer({ min: 0, max: 0xffffff })
    .map((bits) => `#${bits.toString(16).padStart(6, "0")}`);
  fc.assert(
    fc.property(colours, fc.constantFrom(...papers), (requested, paper) => {
      const { colour, onColour } = accentOn(paper, requested);
      assert.match(colour, /^#[\da-f]{6}$/);
      assert.ok(contrast(colour, paper) >= 4.5, `${colour} on ${paper}`);
      assert.ok(contrast(colour, onColour) >= 4.5, `${onColour} on ${colour}`);
    }),
  );
});

test("a colour with enough contrast is not changed", () => {
  assert.deepEqual(accentOn("#ffffff", "#0b57d0"), { colour: "#0b57d0", onColour: "#ffffff" });
  assert.deepEqual(accentOn("#1c2128", "#8ab4f8"), { colour: "#8ab4f8", onColour: "#000000" });
  assert.notEqual(accentOn("#ffffff", "#ffff00").colour, "#ffff00");
});
