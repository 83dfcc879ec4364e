// The scalars beside GraphQL's own.

import { GraphQLError, GraphQLScalarType } from "graphql";
import { parseTimestamp } from "../../lib/timestamp.ts";

export const dateTime = new GraphQLScalarType<string, string>({
  name: "DateTime",
  description: "A moment as ISO 8601 text, in UTC with milliseconds: `2026-11-21T09:30:00.000Z`.",
  specifiedByURL: "https://scalars.graphql.org/andimarek/date-time",
  coerceOutputValue: String,
  coerceInputValue(value) {
    const read = typeof value === "string" ? parseTimestamp(value) : undefined;
    if (read !== undefined) return read;
    throw new GraphQLError("DateTime must be an ISO 8601 date and time.");
  },
});

export const json = new GraphQLScalarType<unknown, unknown>({
  name: "JSON",
  description: "Any JSON value.",
});

export const safeInt = new GraphQLScalarType<number, number>({
  name: "SafeInt",
  description: "A whole number of up to 53 bits, which is more than an `Int` holds.",
  coerceOutputValue: Number,
  coerceInputValue(value) {
    if (Number.isSafeInteger(value)) return value as number;
    throw new GraphQLError("SafeInt must be a whole number of up to 53 bits.");
  },
});
