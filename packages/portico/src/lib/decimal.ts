// Decimals: exact numbers with a fixed number of digits after the point. They are texts in JSON, because a number there is
// read as a double, and integers of their smallest unit where they are computed with.

/** Digits of a decimal in all: as many as fit into 64 bits whatever they are. */
export const maxPrecision = 18;
/** Digits after the point. */
export type Scale = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18;
/** A minus, a zero, a point and the digits. */
const maxTextLength = maxPrecision + 3;

const decimalPattern = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/;

/**
 * The number of units of 10 to the power of `-scale`. Returns undefined for other texts, and for one with more digits.
 *
 * @example
 * parseDecimal("-0.5", 2); // -50n
 */
export function parseDecimal(text: string, scale: number): bigint | undefined {
  const units = unitsOf(text, scale);
  return units !== undefined && isWithin(units) ? units : undefined;
}

/** Whether a text is a decimal, whatever its scale. */
export function isDecimal(text: string): boolean {
  return unitsOf(text, maxPrecision) !== undefined;
}

/** @param one a decimal, as the other */
export function compareDecimals(one: string, other: string): number {
  const difference = unitsOf(one, maxPrecision)! - unitsOf(other, maxPrecision)!;
  return difference < 0n ? -1 : Number(difference > 0n);
}

function unitsOf(text: string, scale: number): bigint | undefined {
  // Before anything parses it: the cost of a number grows faster than its length.
  if (text.length > maxTextLength) return undefined;
  const match = decimalPattern.exec(text);
  if (!match) return undefined;
  const [, fraction = ""] = match;
  if (fraction.length > scale) return undefined;
  return BigInt(text.replace(".", "") + "0".repeat(scale - fraction.length));
}

function isWithin(units: bigint): boolean {
  const limit = 10n ** BigInt(maxPrecision);
  return -limit < units && units < limit;
}

/** The canonical text of a number of units: always `scale` digits after the point, and no minus before zero. */
export function decimalText(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const sign = units < 0n ? "-" : "";
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The canonical text of a decimal: `12.5` with a scale of 2 is `12.50`. Returns undefined as `parseDecimal`. */
export function canonicalDecimal(text: string, scale: number): string | undefined {
  const units = parseDecimal(text, scale);
  return units === undefined ? undefined : decimalText(units, scale);
}

/** The largest decimal with so many digits, of which `scale` are after the point. */
export function maxDecimal(precision: number, scale: number): string {
  return decimalText(10n ** BigInt(precision) - 1n, scale);
}
