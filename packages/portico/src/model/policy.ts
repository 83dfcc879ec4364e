// The result of a policy for a caller. A policy is a function, so each of its results is checked: a result that is not a
// filter must never be treated as "all rows".

import type { Caller } from "../declare/caller.ts";
import { isJson } from "../declare/field.ts";
import type { FilterValue } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Attribute, ResourceModel } from "./model.ts";

/** The values that an attribute of visible rows may have; without values, no row is visible. */
export interface AllowedValues {
  readonly attribute: Attribute;
  readonly values: readonly AllowedValue[];
}

/** Timestamps are ISO texts in UTC; null means no value. */
type AllowedValue = Exclude<FilterValue, undefined>;

/** More values would be a list of rows, which belongs in the database. */
const maxValues = 1_000;

/**
 * The values that the own policy of a resource allows a caller; an empty list allows all rows.
 * @throws Error if the policy throws, and OperatorError if its result is not a filter of the resource
 */
export function allowedValues(resource: ResourceModel, caller: Caller): readonly AllowedValues[] {
  return parsePolicyResult(resource, callPolicy(resource, caller));
}

/** @throws Error if the policy throws, even a `Problem`, because the result of a policy is a filter and no error */
export function callPolicy({ name, policy }: ResourceModel, caller: Caller): unknown {
  try {
    const result: unknown = policy?.(caller);
    // A promise is refused, but its rejection must be handled, or it would end the process.
    if (result instanceof Promise) result.catch(() => {});
    return result;
  } catch (cause) {
    throw new Error(`resource ${name}: its policy throws: ${firstLineOf(cause)}`, { cause });
  }
}

/** @throws OperatorError with one line that names resource, field and remedy */
export function parsePolicyResult(resource: ResourceModel, result: unknown): readonly AllowedValues[] {
  if (result === undefined) return [];
  if (!isPlainObject(result)) {
    throw new OperatorError(
      `resource ${resource.name}: its policy returns ${describeValue(result)}; return field values, { ownerId: caller.userId }, or undefined for all rows`,
    );
  }
  return Object.entries(result).map(([name, value]) => {
    const attribute = comparableAttribute(resource, name);
    const values = Array.isArray(value) ? value : [value];
    if (values.length > maxValues) refuse(resource, name, `has more than ${maxValues} values; use fewer`);
    // Undefined matches nothing: a caller without a user sees no rows of users.
    const present = values.filter((each) => each !== undefined);
    return { attribute, values: [...new Set(present.map((each) => parseValue(resource, attribute, each)))] };
  });
}

function comparableAttribute(resource: ResourceModel, name: string): Attribute {
  const attribute = resource.attribute.get(name);
  if (!attribute) {
    const known = resource.attributes.filter(({ isInternal }) => !isInternal).map((each) => each.name);
    return refuse(resource, name, `names it, but there is no such field; use one of ${known.join(", ")}`);
  }
  if (attribute.isInternal)
    return refuse(
      resource,
      name,
      "names it, but it is internal, so events do not hold it; use another field",
    );
  if (isJson(attribute.field))
    return refuse(resource, name, "names it, but JSON cannot be compared; use another field");
  return attribute;
}

function parseValue(resource: ResourceModel, attribute: Attribute, value: unknown): AllowedValue {
  if (value === null) return null;
  const { expected, parse } = comparable(attribute);
  return (
    parse(value) ??
    refuse(
      resource,
      attribute.name,
      `compares it with a value that is not ${expected}; use ${expected}, a list of such values, or null`,
    )
  );
}

interface Comparable {
  /** The expected value, for messages. */
  readonly expected: string;
  /** The value as rows have it; undefined for a value that no row can have. */
  readonly parse: (value: unknown) => Exclude<AllowedValue, null> | undefined;
}

function comparable({ field }: Attribute): Comparable {
  switch (field.kind) {
    case "integer":
      return { expected: "a whole number", parse: (value) => validNumber(value, Number.isSafeInteger) };
    case "number":
      return { expected: "a number", parse: (value) => validNumber(value, Number.isFinite) };
    case "boolean":
      return {
        expected: "true or false",
        parse: (value) => (typeof value === "boolean" ? value : undefined),
      };
    case "timestamp":
      return {
        expected: "an ISO 8601 date and time",
        parse: (value) => (typeof value === "string" ? parseTimestamp(value) : undefined),
      };
    case "choice":
    case "computedStatus":
      return {
        expected: `one of ${field.choices.join(", ")}`,
        parse: (value) => field.choices.find((choice) => choice === value),
      };
    default:
      return { expected: "text", parse: (value) => (typeof value === "string" ? value : undefined) };
  }
}

function validNumber(value: unknown, isValid: (value: number) => boolean): number | undefined {
  return typeof value === "number" && isValid(value) ? value : undefined;
}

/** Whether a value is an object of no class. A promise, for example, has no members and would exclude no row. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "an object of a class" : `a ${typeof value}`;
}

function refuse({ name }: ResourceModel, field: string, remedy: string): never {
  throw new OperatorError(`resource ${name}, field ${field}: its policy ${remedy}`);
}

/** The first line of a thrown value. */
function firstLineOf(thrown: unknown): string {
  const [line = ""] = (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)).split(
    "\n",
  );
  return line;
}
