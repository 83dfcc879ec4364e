// References that a write sets. They lead to rows that are there, and where a caller sets them, to rows that the caller
// may see: a hidden row is answered for as one that does not exist.

import type { Caller } from "../declare/caller.ts";
import type { InputError } from "../errors.ts";
import { isId } from "../lib/id.ts";
import type { Attribute, ResourceModel, Shape } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { findVisible } from "./find-row.ts";
import { policyConditions } from "./policy.ts";
import { InvalidInput } from "./validation/invalid-input.ts";
import { missingReference } from "./validation/messages.ts";

/**
 * Makes sure of the references that a caller sets, where policies apply to what they refer to; the database makes sure
 * of all others as the row is written. This comes before any hook: nothing may tell a hidden row from one that is not
 * there.
 *
 * @throws FaultyInput with a fault for each reference that leads nowhere, those among them that have no policy
 */
export async function requireVisibleReferences(
  store: Store,
  session: Session,
  caller: Caller,
  { references }: Shape,
  values: RowValues,
): Promise<void> {
  const restricted = references.filter(({ reference }) => reference!.target.isRestricted);
  if (restricted.length === 0) return;
  const invalid = await invalidReferences(store, session, caller, restricted, values);
  if (invalid.length === 0) return;
  throw new InvalidInput(await invalidReferences(store, session, caller, references, values));
}

/** What is wrong with the references of a body that is not written, for its other faults. @param id of the row it changes */
export async function invalidBodyReferences(
  store: Store,
  caller: Caller,
  resource: ResourceModel,
  id: string | undefined,
  values: RowValues,
): Promise<InputError[]> {
  const invalid = await invalidReferences(store, store.database, caller, resource.references, values);
  if (invalid.length === 0 || id === undefined) return invalid;
  const row = await findVisible(store, store.database, caller, resource, id);
  const changed = changedReferences(resource, values, row === undefined ? {} : JSON.parse(row));
  return invalid.filter(({ field }) => Object.hasOwn(changed, field));
}

/** The references among values that differ from those of a row: only these are set. */
export function changedReferences({ references }: Shape, values: RowValues, current: RowValues): RowValues {
  const changed = references.filter(
    ({ name }) => Object.hasOwn(values, name) && values[name] !== current[name],
  );
  return Object.fromEntries(changed.map(({ name }) => [name, values[name]]));
}

/**
 * What is wrong with those values that refer to nothing.
 *
 * @param isCallerField tells the references that lead only to what the caller may see: all, when left out
 */
export async function invalidReferences(
  store: Store,
  session: Session,
  caller: Caller,
  references: readonly Attribute[],
  values: RowValues,
  isCallerField: (name: string) => boolean = () => true,
): Promise<InputError[]> {
  const errors: InputError[] = [];
  for (const { name, reference } of references) {
    const id = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof id !== "string") continue;
    const { target } = reference!;
    const conditions = isCallerField(name) ? policyConditions(caller, target) : [];
    const ids = isId(id) ? [id] : [];
    const visibleIds = await store.filterIds(caller.tenantId, target, { ids, conditions }, session);
    if (!visibleIds.has(id)) errors.push(missingReference(name));
  }
  return errors;
}
