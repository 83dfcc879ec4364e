// The members of a line that is imported, as they concern its row.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import type { Attribute } from "../model/model.ts";
import { isPlainObject, type PlainObject } from "../query/plain-object.ts";

/** Whether a value is a file as exports have it, which no body can have. */
export function isExportedFile({ field }: Attribute, value: unknown): boolean {
  return field.kind === "file" && isPlainObject(value);
}

/** The own members of an object without some of them. */
export function without(object: PlainObject, names: readonly string[]): PlainObject {
  if (!names.some((name) => Object.hasOwn(object, name))) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** @throws InvalidInput if the line does not name the parent */
export function parentOf(name: string, body: PlainObject): string {
  const id = Object.hasOwn(body, name) ? body[name] : undefined;
  if (typeof id === "string") return id;
  const isMissing = id === undefined || id === null;
  throw new InvalidInput([
    isMissing
      ? { field: name, issue: "required", text: "is required" }
      : { field: name, issue: "type", text: "must be text" },
  ]);
}

/** The value by which a row is found. @returns undefined for one that no row has; creating it then reports the error */
export function keyValue(name: string, body: PlainObject): string | number | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null)
    throw new InvalidInput([{ field: name, issue: "required", text: "is required for mode=upsert" }]);
  return typeof value === "string" || Number.isSafeInteger(value) ? (value as string | number) : undefined;
}
