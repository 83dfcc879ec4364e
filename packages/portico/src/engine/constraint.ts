// A constraint of the database that a write broke, told in the words of the API.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../declare/model.ts";
import { type Detail, Problem } from "../errors.ts";
import type { RowValues } from "../plan/write.ts";
import { ConstraintError } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { notFound } from "./find-row.ts";
import { lostReferences } from "./references.ts";
import { FaultyInput } from "./validate.ts";

/** A row that was to be written. */
export interface Attempt {
  readonly values: RowValues;
  /** The references in it that the caller set, and not a hook, a default or an earlier write. */
  readonly byCaller: RowValues;
}

/**
 * What to answer for an error of an insert or update. Which references led nowhere is looked up afterwards, so
 * that writes that succeed pay nothing for it.
 */
export async function explainWrite(
  error: unknown,
  store: Store,
  resource: ResourceModel,
  caller: Caller,
  { values, byCaller }: Attempt,
): Promise<unknown> {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicate(resource, error.columns);
  const { references } = resource;
  const isByCaller = (name: string): boolean =>
    Object.hasOwn(byCaller, name) && byCaller[name] === values[name];
  const lost = await lostReferences(store, store.database, caller, references, values, isByCaller);
  const { parent } = resource;
  if (parent && lost.some(({ field }) => field === parent.name)) notFound(parent.reference!.target);
  if (lost.length > 0) return new FaultyInput(lost);
  return new Problem("conflict", "What the request refers to was removed meanwhile. Try again.");
}

/** With a million keys, one draw in seventeen has a prefix that is taken. */
const mostDraws = 50;

/** Runs `work`, and again where a value that it drew, and no caller gave, was taken: another may be free. */
export async function redrawn<T>(resource: ResourceModel, work: () => Promise<T>): Promise<T> {
  for (let draws = 1; ; draws += 1) {
    try {
      return await work();
    } catch (error) {
      if (draws === mostDraws || !isOfServersMaking(error, resource)) throw error;
    }
  }
}

function isOfServersMaking(error: unknown, { attributes }: ResourceModel): boolean {
  if (!(error instanceof ConstraintError) || error.kind !== "unique") return false;
  const broken = attributes.filter(({ column }) => error.columns.includes(column));
  return broken.length > 0 && broken.every(({ isReadOnly }) => isReadOnly);
}

function duplicate(resource: ResourceModel, columns: readonly string[]): Problem {
  const names = resource.attributes.filter(({ column }) => columns.includes(column)).map(({ name }) => name);
  const details = names.map((field): Detail => ({ field, issue: "duplicate" }));
  // A newer version may have made unique what this process does not know.
  const shared = names.length > 0 ? names.join(" and ") : "values";
  return new Problem("conflict", `There is a ${resource.title} with the same ${shared} already.`, details);
}

/** What to answer for an error of a delete. */
export function explainRemoval(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  return new Problem(
    "conflict",
    `The ${resource.title} is still referred to. Remove what refers to it first.`,
  );
}

/** What to answer for an error of a write inside another one's transaction, where nothing can be looked up. */
export function explainInner(error: unknown, resource: ResourceModel): unknown {
  if (!(error instanceof ConstraintError)) return error;
  if (error.kind === "unique") return duplicate(resource, error.columns);
  return new Problem("conflict", `The ${resource.title} refers to something that is not there.`);
}
