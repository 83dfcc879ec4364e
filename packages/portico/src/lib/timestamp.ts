// Timestamps: the forms that declarations, bodies and filters accept, and the one form in which they are stored.

/** A date, or a date and a time with an offset (RFC 3339, section 5.6). `Date.parse` alone accepts much more. */
const timestampPattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/**
 * Converts a timestamp to UTC with milliseconds. Returns undefined for other texts and outside the years 1 to 9999.
 *
 * @example
 * parseTimestamp("2026-11-21T10:30:00+01:00"); // "2026-11-21T09:30:00.000Z"
 */
export function parseTimestamp(text: string): string | undefined {
  const day = timestampPattern.exec(text)?.[1];
  const time = Date.parse(text);
  if (day === undefined || !isCalendarDay(day) || Number.isNaN(time)) return undefined;
  const iso = new Date(time).toISOString();
  return /^\d{4}-/.test(iso) && !iso.startsWith("0000") ? iso : undefined;
}

/** Whether a date exists: `Date.parse` reads the 30th of February as the 2nd of March. */
function isCalendarDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
