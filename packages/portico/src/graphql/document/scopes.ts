// The scopes that an operation requires, with the paths of the fields. They are checked before anything runs.

import type { Caller } from "../../declare/caller.ts";
import { canRead, credentialRequired, isWithoutCredential, scopeChallenge } from "../../engine/authorize.ts";
import { Problem } from "../../errors.ts";
import type { ReadAccess } from "../../model/public.ts";
import type { CollectedField } from "./collect-fields.ts";

/** Rejects a credential without any scope, such as a publishable key: it may not even read the schema. @throws Problem */
export function requireAnyScope(caller: Caller): void {
  if (caller.scopes.size > 0) return;
  if (isWithoutCredential(caller)) throw credentialRequired("This operation requires a credential.");
  throw new Problem("insufficient_scope", "The credential has no scopes.", [], scopeChallenge([]));
}

export interface RequiredAccess extends ReadAccess {
  /** Response names: `["posts", "author"]`. */
  readonly path: readonly string[];
  /** Without this the path is not part of the result, so nothing is required: `search` leaves rows out. */
  readonly onlyWith: ReadAccess | undefined;
}

export function accessesOf(fields: readonly CollectedField[]): RequiredAccess[] {
  return fields.flatMap((field) => accessesOfField(field, [field.responseName], undefined));
}

function accessesOfField(
  { mapping, arguments: args, selectionSets }: CollectedField,
  path: readonly string[],
  onlyWith: ReadAccess | undefined,
): RequiredAccess[] {
  const access = mapping.access(args);
  const own = access === undefined ? [] : [{ ...access, path, onlyWith }];
  const inner = selectionSets.flatMap(({ type, fields }) => {
    const accessOfType = mapping.accessOfValues ? mapping.accessOfValues(type) : onlyWith;
    return fields.flatMap((field) => accessesOfField(field, [...path, field.responseName], accessOfType));
  });
  return [...own, ...inner];
}

const maxReportedScopes = 20;

/** An error for each field whose scope the caller lacks. @throws Problem `authentication_required` without a credential */
export function missingScopes(
  caller: Caller,
  required: readonly RequiredAccess[],
): readonly { readonly problem: Problem; readonly path: readonly string[] }[] {
  const missing = required.filter(
    (access) =>
      !canRead(caller, access) && (access.onlyWith === undefined || canRead(caller, access.onlyWith)),
  );
  const [first] = missing;
  if (first && isWithoutCredential(caller))
    throw credentialRequired(`${first.path.join(".")} requires a credential with the scope ${first.scope}.`);
  const { scopesOutsideRole, role } = caller;
  const roleText = role === null ? "the role of the client's owner" : `the role ${role} of this user`;
  const challenge = scopeChallenge([...new Set(missing.map(({ scope }) => scope))]);
  return missing.slice(0, maxReportedScopes).map(({ scope, path }) => {
    const lacking = scopesOutsideRole?.has(scope) ? roleText : "the credential";
    const message = `${path.join(".")} requires the scope ${scope}, which ${lacking} does not have.`;
    return { problem: new Problem("insufficient_scope", message, [], challenge), path };
  });
}
