// References that a write sets. They must point to rows that exist and, if a caller sets them, that the caller may see:
// the response for a hidden row is the same as for a row that does not exist.

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
 * Checks the references that a caller sets to rows with policies; the database checks all others when the row is
 * written. Call it before any hook, so that nothing distinguishes a hidden row from one that does not exist.
 * @throws InvalidInput with an error for each reference, with or without a policy, to a row that does not exist
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

/**
 * The errors of the references in a body that has other errors.
 * @param id the row that the body updates
 */
export async function invalidBodyReferences(
  store: Store,
  session: Session,
  caller: Caller,
  resource: ResourceModel,
  id: string | undefined,
  values: RowValues,
): Promise<InputError[]> {
  const invalid = await invalidReferences(store, session, caller, resource.references, values);
  if (invalid.length === 0 || id === undefined) return invalid;
  const row = await findVisible(store, session, caller, resource, id);
  const changed = changedReferences(resource, values, row === undefined ? {} : JSON.parse(row));
  return invalid.filter(({ field }) => Object.hasOwn(changed, field));
}

/** The references that differ from those of the row. */
export function changedReferences({ references }: Shape, values: RowValues, current: RowValues): RowValues {
  const changed = references.filter(
    ({ name }) => Object.hasOwn(values, name) && values[name] !== current[name],
  );
  return Object.fromEntries(changed.map(({ name }) => [name, values[name]]));
}

/**
 * An error for each reference to a row that does not exist.
 * @param isCallerField whether a reference may only point to rows that the caller sees; by default all
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
