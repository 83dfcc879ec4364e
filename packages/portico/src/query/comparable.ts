// The values that conditions in declarations can compare fields with.

import { isJson } from "../declare/field.ts";
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

/** How the values of an attribute are compared; undefined for JSON and lists. */
export function comparableOf({ field }: Attribute): Comparable | undefined {
  if (isJson(field)) return undefined;
  const isText = false;
  switch (field.kind) {
    case "integer":
      return {
        expected: "a whole number",
        isText,
        parse: (value) => parseNumber(value, Number.isSafeInteger),
      };
    case "number":
      return { expected: "a number", isText, parse: (value) => parseNumber(value, Number.isFinite) };
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
