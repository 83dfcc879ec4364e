// Timestamps: the forms that declarations, bodies and filters accept, and the one form in which they are stored.

import { isExistingDay } from "./calendar-date.ts";

/** A date, or a date and a time with an offset (RFC 3339, section 5.6). `Date.parse` alone accepts much more. */
const timestampPattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** A time in milliseconds since 1970, as it is stored. */
export function timestampOf(time: number): string {
  return new Date(time).toISOString();
}

/**
 * Converts a timestamp to UTC with milliseconds. Returns undefined for other texts and outside the years 1 to 9999.
 *
 * @example
 * parseTimestamp("2026-11-21T10:30:00+01:00"); // "2026-11-21T09:30:00.000Z"
 */
export function parseTimestamp(text: string): string | undefined {
  const day = timestampPattern.exec(text)?.[1];
  const time = Date.parse(text);
  if (day === undefined || !isExistingDay(day) || Number.isNaN(time)) return undefined;
  const iso = new Date(time).toISOString();
  return /^\d{4}-/.test(iso) && !iso.startsWith("0000") ? iso : undefined;
}
