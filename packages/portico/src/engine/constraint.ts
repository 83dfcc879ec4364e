// A constraint of the database that a write broke, told in the words of the API.

import type { Caller } from "../declare/caller.ts";
import { type Detail, Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { ConstraintError } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { throwNotFound } from "./find-row.ts";
import { invalidReferences } from "./references.ts";
import { InvalidInput } from "./validation/invalid-input.ts";

/** A row that was to be written. */
export interface AttemptedWrite {
  readonly values: RowValues;
  /** The references in it that the caller set, and not a hook, a default or an earlier write. */
  readonly callerValues: RowValues;
}

/**
 * What to answer for an error of an insert or update. Which references led nowhere is looked up afterwards, so
 * that writes that succeed pay nothing for it.
 */
export async function explainWriteError(
  error: unknown,
  store: Store,
  resource: ResourceModel,
  caller: Caller,
  { values, callerValues }: AttemptedWrite,
): Promise<unknown> {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicateError(resource, error.columns);
  const { references } = resource;
  const isCallerField = (name: string): boolean =>
    Object.hasOwn(callerValues, name) && callerValues[name] === values[name];
  const invalid = await invalidReferences(store, store.database, caller, references, values, isCallerField);
  const { parent } = resource;
  if (parent && invalid.some(({ field }) => field === parent.name)) throwNotFound(parent.reference!.target);
  if (invalid.length > 0) return new InvalidInput(invalid);
  return new Problem("conflict", "What the request refers to was removed meanwhile. Try again.");
}

/** With a million keys, one draw in seventeen has a prefix that is taken. */
const maxAttempts = 50;

/** Runs `work`, and again where a value that it drew, and no caller gave, was taken: another may be free. */
export async function retryOnCollision<T>(resource: ResourceModel, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !isServerGenerated(error, resource)) throw error;
    }
  }
}

function isServerGenerated(error: unknown, { attributes }: ResourceModel): boolean {
  if (!(error instanceof ConstraintError) || error.kind !== "unique") return false;
  const violated = attributes.filter(({ column }) => error.columns.includes(column));
  return violated.length > 0 && violated.every(({ isReadOnly }) => isReadOnly);
}

function duplicateError(resource: ResourceModel, columns: readonly string[]): Problem {
  const names = resource.attributes.filter(({ column }) => columns.includes(column)).map(({ name }) => name);
  const details = names.map((field): Detail => ({ field, issue: "duplicate" }));
  // A newer version may have made unique what this process does not know.
  const shared = names.length > 0 ? names.join(" and ") : "values";
  return new Problem("conflict", `There is a ${resource.title} with the same ${shared} already.`, details);
}

/** What to answer for an error of a delete. */
export function explainDeleteError(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  return new Problem(
    "conflict",
    `The ${resource.title} is still referred to. Remove what refers to it first.`,
  );
}

/** What to answer for an error of a write inside another one's transaction, where nothing can be looked up. */
export function explainNestedError(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicateError(resource, error.columns);
  return new Problem("conflict", `The ${resource.title} refers to something that is not there.`);
}
