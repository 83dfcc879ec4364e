// Filters of a collection: `status=draft`, with several values meaning any of them, and `createdAt[gte]=...`.

import type { InputError, Issue } from "../../errors.ts";
import { isStorable } from "../../lib/storable-text.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { Attribute } from "../../model/model.ts";
import type { Parameter } from "../../model/operation-parameters.ts";
import type { Comparison, Value } from "../../query/condition.ts";

/** The condition of a filter. Adds an error for each value that the attribute cannot have. */
export function parseFilter(
  { attribute, operator }: NonNullable<Parameter["filter"]>,
  name: string,
  values: readonly string[],
  errors: InputError[],
): Comparison {
  const distinct = operator === "in" ? [...new Set(values)] : values.slice(0, 1);
  return { attribute, operator, values: distinct.map((value) => parseValue(attribute, name, value, errors)) };
}

function parseValue({ field }: Attribute, name: string, text: string, errors: InputError[]): Value {
  const refuse = (issue: Issue, remedy: string): null => {
    errors.push({ field: name, issue, text: remedy });
    return null;
  };
  switch (field.kind) {
    case "integer": {
      const value = Number(text);
      return /^-?\d+$/.test(text) && Number.isSafeInteger(value)
        ? value
        : refuse("type", "must be a whole number");
    }
    case "number": {
      const value = Number(text);
      // Number also accepts "0x1f" and spaces.
      const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(value);
      return isNumber ? value : refuse("type", "must be a number");
    }
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : refuse("type", "must be true or false");
    case "timestamp":
      return parseTimestamp(text) ?? refuse("format", "must be an ISO 8601 date and time");
    case "choice":
    case "computedStatus":
      return field.choices.includes(text)
        ? text
        : refuse("choice", `must be one of ${field.choices.join(", ")}`);
    default:
      return isStorable(text) ? text : refuse("format", "contains a character that cannot be stored");
  }
}
