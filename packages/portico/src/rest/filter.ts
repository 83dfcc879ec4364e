// Filters of a collection: `status=draft`, several values meaning any of them, `createdAt[gte]=...`.

import { isStorable } from "../engine/validation/validate.ts";
import type { FieldError } from "../errors.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { Comparison, Operator, Value } from "../query/read.ts";

/** Values of one filter. */
const maxValues = 50;

const operatorPattern = /^(\w+)\[(gte|gt|lte|lt)\]$/;

/**
 * The condition that a parameter stands for, or undefined where it is no filter of the resource. What is wrong
 * with its values is added to `errors`.
 */
export function parseFilter(
  resource: ResourceModel,
  parameter: string,
  values: readonly string[],
  errors: FieldError[],
): Comparison | undefined {
  const range = operatorPattern.exec(parameter);
  const filter = resource.filters.get(range ? range[1]! : parameter);
  if (!filter || (range && !filter.hasRange)) return undefined;
  const { attribute } = filter;
  // The pattern has just these operators.
  const operator = (range?.[2] as Operator | undefined) ?? "in";
  const maxCount = operator === "in" ? maxValues : 1;
  if (values.length > maxCount) {
    const issue = operator === "in" ? "max" : "duplicate";
    errors.push({
      field: parameter,
      issue,
      text: `is given more than ${maxCount === 1 ? "once" : `${maxCount} times`}`,
    });
  }
  const parsed = [...new Set(values)]
    .slice(0, maxCount)
    .map((value) => parseValue(attribute, parameter, value, errors));
  return { attribute, operator, values: parsed };
}

function parseValue({ field }: Attribute, parameter: string, text: string, errors: FieldError[]): Value {
  const refuse = (issue: FieldError["issue"], remedy: string): null => {
    errors.push({ field: parameter, issue, text: remedy });
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
      // Number also reads "0x1f", and spaces.
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
      return isStorable(text) ? text : refuse("format", "holds a character that no field can hold");
  }
}
