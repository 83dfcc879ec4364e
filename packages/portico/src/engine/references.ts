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
  shape: Shape,
  values: RowValues,
): Promise<void> {
  const all = referencesOf(shape);
  const restricted = all.filter((each) => targetOf(each).isRestricted);
  if (restricted.length === 0) return;
  const invalid = await invalidReferences(store, session, caller, restricted, values);
  if (invalid.length === 0) return;
  throw new InvalidInput(await invalidReferences(store, session, caller, all, values), shape);
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
  const references = referencesOf(resource);
  const invalid = await invalidReferences(store, session, caller, references, values);
  if (invalid.length === 0 || id === undefined) return invalid;
  const row = await findVisible(store, session, caller, resource, id);
  const changed = changedReferences(resource, values, row === undefined ? {} : JSON.parse(row));
  return invalidReferences(store, session, caller, references, changed);
}

/** The references that differ from those of the row; of a many-to-many field, the ids that the row does not have. */
export function changedReferences(
  { references, links }: Shape,
  values: RowValues,
  current: RowValues,
): RowValues {
  const changed = references
    .filter(({ name }) => Object.hasOwn(values, name) && values[name] !== current[name])
    .map(({ name }) => [name, values[name]] as const);
  const added = links.map(({ name }) => {
    const present = new Set(idsIn(current, name));
    return [name, idsIn(values, name).filter((id) => !present.has(id))] as const;
  });
  return Object.fromEntries([...changed, ...added.filter(([, ids]) => ids.length > 0)]);
}

/** The attributes of a shape that refer to rows. */
export function referencesOf({ references, links }: Shape): readonly Attribute[] {
  return links.length === 0 ? references : [...references, ...links];
}

function targetOf({ reference, links }: Attribute): ResourceModel {
  return (reference ?? links)!.target;
}

/** The ids of a reference or a many-to-many field; none for a value of another type. */
function idsIn(values: RowValues, name: string): readonly string[] {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
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
  for (const each of references) {
    const { name } = each;
    const referred = idsIn(values, name);
    if (referred.length === 0) continue;
    const target = targetOf(each);
    const conditions = isCallerField(name) ? policyConditions(caller, target) : [];
    const ids = referred.filter(isId);
    const visibleIds = await store.filterIds(caller.tenantId, target, { ids, conditions }, session);
    if (!referred.every((id) => visibleIds.has(id))) errors.push(missingReference(name));
  }
  return errors;
}
