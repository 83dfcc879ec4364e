// Errors of the engine, with the names that fields have in an older version.

import { DuplicateValues } from "../engine/constraint.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { type InputError, Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import { fieldNamesOf, unknownMark } from "./field-names.ts";

/** The error to return in a version for one that the engine threw. */
export function errorIn<E>(resource: ResourceModel, error: E): E | Problem {
  if (!(error instanceof Problem) || fieldNamesOf(resource).toOlder.size === 0) return error;
  if (error instanceof InvalidInput) {
    // The input of an action has the same names in all versions.
    if (error.shape && error.shape !== resource.current) return error;
    return new InvalidInput(error.errors.map((each) => inputErrorIn(resource, each)));
  }
  const names = new Map(error.details.map(({ field }) => [field, fieldIn(resource, field)]));
  if (error instanceof DuplicateValues) {
    const isOwn = error.resource === resource.current;
    return isOwn ? new DuplicateValues(error.resource, [...names.values()]) : error;
  }
  if ([...names].every(([field, name]) => field === name)) return error;
  const details = error.details.map((each) => ({ ...each, field: names.get(each.field)! }));
  return new Problem(error.code, withNames(error.message, names), details, error.headers);
}

function inputErrorIn(resource: ResourceModel, error: InputError): InputError {
  const field = fieldIn(resource, error.field);
  return "message" in error
    ? { ...error, field, message: withNames(error.message, new Map([[error.field, field]])) }
    : { ...error, field };
}

/** @param path of a field in a body: `headline`, `tags.0` */
function fieldIn(resource: ResourceModel, path: string): string {
  if (path.startsWith(unknownMark)) return path.slice(unknownMark.length);
  const [first = "", ...rest] = path.split(".");
  return [fieldNamesOf(resource).toOlder.get(first) ?? first, ...rest].join(".");
}

/**
 * A message with other names for the fields that it names as words, all at once: two fields may have each other's names.
 * @param names at least one
 */
function withNames(message: string, names: ReadonlyMap<string, string>): string {
  const words = [...names.keys()].map(RegExp.escape).join("|");
  return message.replaceAll(new RegExp(`(?<!\\w)(?:${words})(?!\\w)`, "g"), (word) => names.get(word)!);
}
