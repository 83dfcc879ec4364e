// The scopes that an operation requires, with the paths of the fields. They are checked before anything runs.

import type { Caller } from "../../declare/caller.ts";
import { scopeChallenge } from "../../engine/authorize.ts";
import { Problem } from "../../errors.ts";
import type { CollectedField } from "./collect-fields.ts";

/** Rejects a credential without any scope, such as a publishable key: it may not even read the schema. @throws Problem */
export function requireAnyScope({ scopes }: Caller): void {
  if (scopes.size > 0) return;
  throw new Problem("insufficient_scope", "The credential has no scopes.", [], scopeChallenge([]));
}

export interface RequiredScope {
  readonly scope: string;
  /** Response names: `["posts", "author"]`. */
  readonly path: readonly string[];
  /** Without this scope the path is not part of the result, so `scope` is not required: `search` leaves rows out. */
  readonly onlyWith: string | undefined;
}

export function scopesOf(fields: readonly CollectedField[]): RequiredScope[] {
  return fields.flatMap((field) => scopesOfField(field, [field.responseName], undefined));
}

function scopesOfField(
  { mapping, arguments: args, selectionSets }: CollectedField,
  path: readonly string[],
  onlyWith: string | undefined,
): RequiredScope[] {
  const scope = mapping.scope(args);
  const own = scope === undefined ? [] : [{ scope, path, onlyWith }];
  const inner = selectionSets.flatMap(({ type, fields }) => {
    const scopeOfType = mapping.scopeOfValues ? mapping.scopeOfValues(type) : onlyWith;
    return fields.flatMap((field) => scopesOfField(field, [...path, field.responseName], scopeOfType));
  });
  return [...own, ...inner];
}

const maxReportedScopes = 20;

/** An error for each field whose scope the caller lacks. */
export function missingScopes(
  { scopes, scopesOutsideRole, role }: Caller,
  required: readonly RequiredScope[],
): readonly { readonly problem: Problem; readonly path: readonly string[] }[] {
  const missing = required.filter(
    ({ scope, onlyWith }) => !scopes.has(scope) && (onlyWith === undefined || scopes.has(onlyWith)),
  );
  const challenge = scopeChallenge([...new Set(missing.map(({ scope }) => scope))]);
  return missing.slice(0, maxReportedScopes).map(({ scope, path }) => {
    const lacking = scopesOutsideRole?.has(scope) ? `the role ${role} of this user` : "the credential";
    const message = `${path.join(".")} requires the scope ${scope}, which ${lacking} does not have.`;
    return { problem: new Problem("insufficient_scope", message, [], challenge), path };
  });
}
