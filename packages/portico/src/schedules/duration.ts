// Durations as declarations write them.

const units: Readonly<Record<string, number>> = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `"15 min"` -> 900000; undefined if the text is not a duration. */
export function parseDuration(text: unknown): number | undefined {
  const [, amount, unit] = typeof text === "string" ? (/^([1-9]\d{0,5}) ?(s|min|h|d)$/.exec(text) ?? []) : [];
  return amount === undefined ? undefined : Number(amount) * units[unit!]!;
}
