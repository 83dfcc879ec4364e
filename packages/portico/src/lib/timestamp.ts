// Moments: dates and times as declarations, bodies and filters may write them, and the one form they are kept in.

/** A day, or a day and a time with its zone (RFC 3339, section 5.6); `Date.parse` alone takes far more. */
const timestampPattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/**
 * The moment in UTC with milliseconds, or undefined where the text is none or outside the years 1 to 9999.
 *
 * @example
 * moment("2026-11-21T10:30:00+01:00"); // "2026-11-21T09:30:00.000Z"
 */
export function parseTimestamp(text: string): string | undefined {
  const day = timestampPattern.exec(text)?.[1];
  const time = Date.parse(text);
  if (day === undefined || !isCalendarDay(day) || Number.isNaN(time)) return undefined;
  const iso = new Date(time).toISOString();
  return /^\d{4}-/.test(iso) && !iso.startsWith("0000") ? iso : undefined;
}

/** Whether a calendar has this day: `Date.parse` counts the 30th of February as the 2nd of March. */
function isCalendarDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
