// The scopes that a credential has through the role of the user that it acts for.

import { BoundedMap } from "../lib/bounded-map.ts";
import { FrozenSet } from "../lib/frozen-set.ts";
import type { Model } from "../model/model.ts";

/** The scopes of a credential, cut by a role. */
export interface EffectiveScopes {
  readonly scopes: ReadonlySet<string>;
  /** The scopes of the credential that the role lacks; undefined if it lacks none. */
  readonly scopesOutsideRole: ReadonlySet<string> | undefined;
}

/** Distinct lists of scopes that are kept for each role; credentials share few of them. */
const maxCached = 1_000;

/**
 * Cuts scopes by roles. Each distinct list of scopes is parsed and cut once for each role. The sets are frozen: policies and
 * hooks get them, and later requests share them.
 */
export class RoleScopes {
  readonly #parse: (text: string) => ReadonlySet<string>;
  readonly #always: ReadonlySet<string>;
  readonly #roles: ReadonlyMap<string, ReadonlySet<string>>;
  /** By role, then by the text of the scopes; null for credentials that act for no user. */
  readonly #cached = new Map<string | null, BoundedMap<string, EffectiveScopes>>();

  /**
   * @param parse makes a set of the text in which credentials of this kind store their scopes
   * @param always scopes that no role restricts
   */
  constructor(
    { roles }: Pick<Model, "roles">,
    parse: (text: string) => ReadonlySet<string>,
    always: readonly string[] = [],
  ) {
    this.#parse = parse;
    this.#always = new Set(always);
    this.#roles = new Map(roles.map(({ name, scopes }) => [name, scopes.union(this.#always)]));
  }

  /** @param role null if the credential acts for no user. A role that is not declared has no scopes. */
  of(text: string, role: string | null): EffectiveScopes {
    const cached = this.#cached.get(role)?.get(text);
    if (cached !== undefined) return cached;
    const effective = this.#cut(this.#parse(text), role);
    if (role !== null && !this.#roles.has(role)) return effective;
    const ofRole = this.#cached.get(role) ?? new BoundedMap(maxCached);
    this.#cached.set(role, ofRole);
    ofRole.set(text, effective);
    return effective;
  }

  #cut(own: ReadonlySet<string>, role: string | null): EffectiveScopes {
    if (role === null) return { scopes: new FrozenSet(own), scopesOutsideRole: undefined };
    const allowed = this.#roles.get(role) ?? this.#always;
    const outside = own.difference(allowed);
    if (outside.size === 0) return { scopes: new FrozenSet(own), scopesOutsideRole: undefined };
    return { scopes: new FrozenSet(own.intersection(allowed)), scopesOutsideRole: new FrozenSet(outside) };
  }
}
