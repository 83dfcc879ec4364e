// Filters of a collection: `status=draft`, with several values meaning any of them, `status[ne]=draft`, `createdAt[gte]=...`.

import type { InputError, Issue } from "../../errors.ts";
import { isStorable } from "../../lib/storable-text.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { Attribute } from "../../model/model.ts";
import { maxFilterValues, type Parameter } from "../../model/operation-parameters.ts";
import { comparableOf } from "../../query/comparable.ts";
import type { Condition, Value } from "../../query/condition.ts";
import { filterCondition } from "../../query/filter.ts";

/** The condition of a filter. Adds an error for each value that the attribute cannot have. */
export function parseFilter(
  { filter, operator }: NonNullable<Parameter["filter"]>,
  name: string,
  values: readonly string[],
  errors: InputError[],
): Condition {
  const [first = ""] = values;
  switch (operator) {
    case "isNull":
      if (first !== "true" && first !== "false")
        errors.push({ field: name, issue: "type", text: "must be true or false" });
      return filterCondition(filter, operator, [first === "true"]);
    case "contains":
    case "startsWith":
      if (!isStorable(first)) errors.push(unstorable(name));
      return filterCondition(filter, operator, [first]);
    case "eq":
    case "ne":
    case "in": {
      const texts = new Set(operator === "in" ? first.split(",", maxFilterValues + 1) : values);
      if (texts.size > maxFilterValues)
        errors.push({ field: name, issue: "max", text: `must have at most ${maxFilterValues} values` });
      const { attribute } = filter;
      const parsed = [...texts].map((text) => parseValue(attribute.element ?? attribute, name, text, errors));
      return filterCondition(filter, operator, parsed);
    }
    default:
      return filterCondition(filter, operator, [parseValue(filter.attribute, name, first, errors)]);
  }
}

function unstorable(name: string): InputError {
  return { field: name, issue: "format", text: "contains a character that cannot be stored" };
}

function parseValue(attribute: Attribute, name: string, text: string, errors: InputError[]): Value {
  const { field } = attribute;
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
      return parseTimestamp(withOffset(text)) ?? refuse("format", "must be an ISO 8601 date and time");
    case "decimal":
    case "date": {
      const { parse, expected } = comparableOf(attribute)!;
      return parse(text) ?? refuse("format", `must be ${expected}`);
    }
    case "choice":
    case "computedStatus":
      return field.choices.includes(text)
        ? text
        : refuse("choice", `must be one of ${field.choices.join(", ")}`);
    default:
      return isStorable(text) ? text : refuse("format", "contains a character that cannot be stored");
  }
}

/** A timestamp whose `+` was not encoded: in a query, `+` means a space (URL Standard, section 5.1). */
function withOffset(text: string): string {
  return text.replace(/ (?=\d\d:\d\d$)/, "+");
}
