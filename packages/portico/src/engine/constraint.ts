// Turns the violation of a database constraint into an error of the API.

import type { Caller } from "../declare/caller.ts";
import { type Detail, Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { ConstraintError, type Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { throwNotFound } from "./find-row.ts";
import { invalidReferences, referencesOf } from "./references.ts";
import { InvalidInput } from "./validation/invalid-input.ts";

/** The row of a failed write. */
export interface AttemptedWrite {
  readonly values: RowValues;
  /** The references that the caller set, not a hook, a default or an earlier write. */
  readonly callerValues: RowValues;
}

/**
 * The error to return for an error of an insert or update. References that do not exist are looked up only after a
 * write has failed, so that successful writes cost nothing more.
 */
export async function explainWriteError(
  error: unknown,
  store: Store,
  session: Session,
  resource: ResourceModel,
  caller: Caller,
  { values, callerValues }: AttemptedWrite,
): Promise<unknown> {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicateError(resource, error.columns);
  const references = referencesOf(resource);
  const isCallerField = (name: string): boolean =>
    Object.hasOwn(callerValues, name) && callerValues[name] === values[name];
  const invalid = await invalidReferences(store, session, caller, references, values, isCallerField);
  const { parent } = resource;
  if (parent && invalid.some(({ field }) => field === parent.name)) throwNotFound(parent.reference!.target);
  if (invalid.length > 0) return new InvalidInput(invalid);
  return new Problem("conflict", "A row that the request refers to has just been deleted. Try again.");
}

/** `conflict` with a detail for each field whose values must occur only once together. */
export class DuplicateValues extends Problem {
  readonly resource: ResourceModel;

  /** @param fields none if the database has a constraint that a newer version has added */
  constructor(resource: ResourceModel, fields: readonly string[]) {
    const shared = fields.length > 0 ? fields.join(" and ") : "values";
    const details = fields.map((field): Detail => ({ field, issue: "duplicate" }));
    super("conflict", `Another ${resource.title} already has the same ${shared}.`, details);
    this.resource = resource;
  }
}

/** With a million keys, one in seventeen generated prefixes exists already. */
const maxAttempts = 50;

/** Runs `work`, and runs it again if a value that the server generated exists already. */
export async function retryOnCollision<T>(resource: ResourceModel, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !isServerGenerated(error, resource)) throw error;
    }
  }
}

function isServerGenerated(error: unknown, { attributes, parent }: ResourceModel): boolean {
  if (!(error instanceof ConstraintError) || error.kind !== "unique") return false;
  // The parent is read-only too, but it is given by the path, so that another attempt has the same.
  const violated = attributes.filter((each) => each !== parent && error.columns.includes(each.column));
  return violated.length > 0 && violated.every(({ isReadOnly }) => isReadOnly);
}

function duplicateError(resource: ResourceModel, columns: readonly string[]): DuplicateValues {
  const names = resource.attributes.filter(({ column }) => columns.includes(column)).map(({ name }) => name);
  return new DuplicateValues(resource, names);
}

/** The error to return for an error of a delete. */
export function explainDeleteError(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  return new Problem("conflict", `The ${resource.title} is still referred to. ${resource.whenReferenced}`);
}

/** The error to return for an error of a write in the transaction of another write, where nothing can be looked up. */
export function explainNestedError(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicateError(resource, error.columns);
  return new Problem("conflict", `The ${resource.title} refers to a row that does not exist.`);
}
