// Custom scalars.

import { GraphQLError, GraphQLScalarType } from "graphql";
import { isCalendarDate } from "../../lib/calendar-date.ts";
import { isDecimal } from "../../lib/decimal.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";

export const dateTime = new GraphQLScalarType<string, string>({
  name: "DateTime",
  description: "A date and time in ISO 8601 format, in UTC with milliseconds: `2026-11-21T09:30:00.000Z`.",
  specifiedByURL: "https://scalars.graphql.org/andimarek/date-time",
  coerceOutputValue: String,
  coerceInputValue(value) {
    const timestamp = typeof value === "string" ? parseTimestamp(value) : undefined;
    if (timestamp !== undefined) return timestamp;
    throw new GraphQLError("DateTime must be an ISO 8601 date and time.");
  },
});

export const calendarDate = new GraphQLScalarType<string, string>({
  name: "Date",
  description: "A calendar day: `2026-11-21`.",
  specifiedByURL: "https://scalars.graphql.org/andimarek/local-date",
  coerceOutputValue: String,
  coerceInputValue(value) {
    if (typeof value === "string" && isCalendarDate(value)) return value;
    throw new GraphQLError("Date must be a day that exists, such as 2026-11-21.");
  },
});

export const exactDecimal = new GraphQLScalarType<string, string>({
  name: "Decimal",
  description: 'An exact decimal number as a string: `"12.50"`.',
  coerceOutputValue: String,
  coerceInputValue(value) {
    if (typeof value === "string" && isDecimal(value)) return value;
    throw new GraphQLError('Decimal must be a decimal number as a string, such as "12.50".');
  },
});

export const json = new GraphQLScalarType<unknown, unknown>({
  name: "JSON",
  description: "Any JSON value.",
});

export const safeInt = new GraphQLScalarType<number, number>({
  name: "SafeInt",
  description: "An integer of up to 53 bits. An `Int` has 32.",
  coerceOutputValue: Number,
  coerceInputValue(value) {
    if (Number.isSafeInteger(value)) return value as number;
    throw new GraphQLError("SafeInt must be an integer of up to 53 bits.");
  },
});
