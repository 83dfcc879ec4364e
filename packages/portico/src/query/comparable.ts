// The values that conditions in declarations can compare fields with.

import { isJson } from "../declare/field.ts";
import { isCalendarDate } from "../lib/calendar-date.ts";
import { canonicalDecimal } from "../lib/decimal.ts";
import { isStorable } from "../lib/storable-text.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Attribute } from "../model/model.ts";
import type { Value } from "./condition.ts";

export interface Comparable {
  /** The expected value, for messages. */
  readonly expected: string;
  /** Whether texts are compared that `contains` and `startsWith` can search. */
  readonly isText: boolean;
  /** The value as rows have it; undefined for a value that no row can have. */
  readonly parse: (value: unknown) => NonNullable<Value> | undefined;
}

/**
 * How the values of an attribute are compared, and of a list its elements; undefined for JSON, and for lists of fractions,
 * of which SQLite does not read every one in JSON as the number that JavaScript wrote.
 */
export function comparableOf({ field, element }: Attribute): Comparable | undefined {
  const isText = false;
  if (element) {
    const comparable = element.field.kind === "number" ? undefined : comparableOf(element);
    return comparable && { ...comparable, isText };
  }
  if (isJson(field)) return undefined;
  switch (field.kind) {
    case "integer":
      return {
        expected: "a whole number",
        isText,
        parse: (value) => parseNumber(value, Number.isSafeInteger),
      };
    case "number":
      return { expected: "a number", isText, parse: (value) => parseNumber(value, Number.isFinite) };
    case "decimal": {
      const { scale } = field.options;
      return {
        ...{ expected: `a decimal with at most ${scale} digits after the point, as text`, isText },
        parse: (value) => (typeof value === "string" ? canonicalDecimal(value, scale) : undefined),
      };
    }
    case "boolean":
      return {
        ...{ expected: "true or false", isText },
        parse: (value) => (typeof value === "boolean" ? value : undefined),
      };
    case "timestamp":
      return {
        ...{ expected: "an ISO 8601 date and time", isText },
        parse: (value) => (typeof value === "string" ? parseTimestamp(value) : undefined),
      };
    case "date":
      return {
        ...{ expected: "a day, such as 2026-11-21", isText },
        parse: (value) => (typeof value === "string" && isCalendarDate(value) ? value : undefined),
      };
    case "choice":
    case "computedStatus":
      return {
        ...{ expected: `one of ${field.choices.join(", ")}`, isText },
        parse: (value) => field.choices.find((choice) => choice === value),
      };
    default:
      return text;
  }
}

const text: Comparable = {
  ...{ expected: "text", isText: true },
  parse: (value) => (typeof value === "string" && isStorable(value) ? value : undefined),
};

function parseNumber(value: unknown, isValid: (value: number) => boolean): number | undefined {
  return typeof value === "number" && isValid(value) ? value : undefined;
}
