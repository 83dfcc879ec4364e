// The scopes that an operation needs, each with the path that needs it. They are asked for before anything runs.

import type { Caller } from "../../declare/caller.ts";
import { scopeChallenge } from "../../engine/authorize.ts";
import { Problem } from "../../errors.ts";
import { resourceOfId } from "../compile/resource-of-id.ts";
import { isWrite } from "../execute/write.ts";
import type { Api } from "../schema/schema.ts";
import type { CollectedField } from "./collect-fields.ts";

/** Publishable keys, and keys without a scope, open nothing, not even the schema. @throws Problem */
export function requireAnyScope({ scopes }: Caller): void {
  if (scopes.size > 0) return;
  const message = "The credential has no scope, so it opens nothing.";
  throw new Problem("insufficient_scope", message, [], scopeChallenge([]));
}

export interface NeededScope {
  readonly scope: string;
  /** Names of fields in the answer: `["posts", "author"]`. */
  readonly path: readonly string[];
  /** The scope without which the path is never reached: a search leaves out what may not be read. */
  readonly onlyWith: string | undefined;
}

export function scopesOf(api: Api, fields: readonly CollectedField[]): NeededScope[] {
  return fields.flatMap((selected) => scopesOfField(api, selected, [selected.responseName], undefined));
}

function scopesOfField(
  api: Api,
  selected: CollectedField,
  path: readonly string[],
  onlyWith: string | undefined,
): NeededScope[] {
  const scope = fieldScope(api, selected);
  const own = scope === undefined ? [] : [{ scope, path, onlyWith }];
  const inner = selected.subselections.flatMap(({ type, fields }) => {
    const isSearch = selected.mapping?.kind === "search";
    const without = isSearch ? api.resourceOf.get(type)?.scopes.read : onlyWith;
    return fields.flatMap((each) => scopesOfField(api, each, [...path, each.responseName], without));
  });
  return [...own, ...inner];
}

function fieldScope(api: Api, selected: CollectedField): string | undefined {
  const { mapping } = selected;
  if (isWrite(mapping)) return mapping.resource.scopes.write;
  switch (mapping?.kind) {
    case "row":
      return mapping.reference.reference!.target.scopes.read;
    case "list":
    case "one":
    case "first":
    case "page":
    case "event":
      return mapping.resource.scopes.read;
    case "node":
      return resourceOfId(api, String(selected.arguments.id))?.scopes.read;
    default:
      return undefined;
  }
}

/** Of the fields whose scopes are missing, so many are told. */
const maxReportedScopes = 20;

/** What the caller lacks, with the path of each. */
export function missingScopes(
  caller: Caller,
  needed: readonly NeededScope[],
): readonly { readonly problem: Problem; readonly path: readonly string[] }[] {
  const { scopes } = caller;
  const missing = needed.filter(
    ({ scope, onlyWith }) => !scopes.has(scope) && (onlyWith === undefined || scopes.has(onlyWith)),
  );
  const challenge = scopeChallenge([...new Set(missing.map(({ scope }) => scope))]);
  return missing.slice(0, maxReportedScopes).map(({ scope, path }) => {
    const message = `${path.join(".")} needs the scope ${scope}, which the credential lacks.`;
    return { problem: new Problem("insufficient_scope", message, [], challenge), path };
  });
}
