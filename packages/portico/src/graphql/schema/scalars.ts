// Custom scalars.

import { GraphQLError, GraphQLScalarType } from "graphql";
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
