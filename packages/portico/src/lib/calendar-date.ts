// Calendar days: `2026-11-21`, without a time and a time zone. Their texts sort as the days do.

/** Whether a text is a day that exists, in the years 1 to 9999 of the Gregorian calendar (RFC 3339, `full-date`). */
export function isCalendarDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !text.startsWith("0000") && isExistingDay(text);
}

/** Whether a day exists: `Date.parse` reads the 30th of February as the 2nd of March. */
export function isExistingDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** The day of a timestamp, in UTC. */
export function dayOf(timestamp: string): string {
  return timestamp.slice(0, "2026-11-21".length);
}
