// The models of random policies, and the rows that they are tried on.

import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { type App, app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import {
  belongsTo,
  boolean,
  choice,
  computedStatus,
  integer,
  list,
  manyToMany,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import type { PolicyContext } from "../../src/declare/where.ts";
import { Engine } from "../../src/engine/engine.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import type { Store } from "../../src/store/store.ts";
import {
  type Declarations,
  type Forest,
  type Level,
  operations,
  type Policies,
  type Row,
} from "./policy-model.ts";

const fields = {
  word: text({ max: 20, optional: true }),
  rank: integer({ optional: true }),
  weight: number({ optional: true }),
  isOpen: boolean({ optional: true }),
  kind: choice(["plain", "rich"], { optional: true }),
  endsAt: timestamp({ optional: true }),
  tags: list(text({ max: 20 }), { optional: true }),
  progress: computedStatus("under_way", [{ status: "over", from: "endsAt" }]),
};

export const unrestricted: Declarations = { top: [], mid: [], leaf: [] };

type CurrentPolicies = (caller: Caller) => Policies;

/**
 * @param inherits whether policies of tops apply to mids
 * @param current the policies of each request, which may differ by caller
 */
export function modelOf(inherits: boolean, declarations: Declarations, current: CurrentPolicies): Model {
  return buildModel(appOf(inherits, declarations, current), []);
}

export function appOf(inherits: boolean, declarations: Declarations, current: CurrentPolicies): App {
  const declare = resource as unknown as (name: string, declaration: object) => Resource;
  const common = {
    fields,
    filter: ["kind", "rank", "tags"],
    sort: ["rank"],
    search: ["word"],
    nestedUnder: ["tenant"],
  };
  const policyOf = (level: Level) => {
    const declared = declarations[level];
    if (declared === "all") return { policy: ({ caller }: PolicyContext) => current(caller)[level].read };
    if (declared.length === 0) return {};
    const decide = declared.map((operation) => [
      operation,
      ({ caller }: PolicyContext) => current(caller)[level][operation],
    ]);
    return { policy: Object.fromEntries(decide) };
  };
  const top = declare("top", {
    ...common,
    filter: [...common.filter, "mids.kind"],
    ...policyOf("top"),
  });
  const mid = declare("mid", { ...common, parent: top, ...policyOf("mid"), inheritPolicy: inherits });
  const leaf = declare("leaf", {
    ...common,
    fields: { ...fields, peer: belongsTo(() => top, { optional: true }), friends: manyToMany(() => top) },
    plural: "leaves",
    parent: mid,
    ...policyOf("leaf"),
  });
  return app({ name: "Tree", resources: [top, mid, leaf] });
}

const nobody = Object.fromEntries(operations.map((operation) => [operation, true]));
export const open = { top: nobody, mid: nobody, leaf: nobody } as Policies;

/** A model of the same tables without policies. */
export const planting = modelOf(true, unrestricted, () => open);

/** Creates the rows in a new tenant. */
export async function plantIn(
  store: Store,
  { top, mid, leaf }: Forest,
): Promise<{ readonly caller: Caller; readonly rows: readonly Row[] }> {
  const caller: Caller = {
    ...{ kind: "key", userId: null, role: null },
    tenantId: (await createTenant(store, "Random")).id,
    credentialId: "key",
    scopes: new Set(planting.scopes),
  };
  const engine = new Engine(planting, store);
  const make = async (level: Level, parent: Row | undefined, values: object): Promise<Row> => {
    const { id, text } = await engine.create(caller, planting.resource.get(level)!, values, parent?.id);
    return { level, parent, id, values: JSON.parse(text) };
  };
  const tops = await Promise.all(top.map((values) => make("top", undefined, values)));
  const mids = await Promise.all(
    mid.map(([under, values]) => make("mid", tops[under % tops.length], values)),
  );
  const leaves = await Promise.all(
    leaf.map(([under, values, peer]) =>
      make("leaf", mids[under % mids.length], {
        ...values,
        peerId: peer === null ? null : tops[peer % tops.length]!.id,
        friendIds:
          peer === null ? [] : tops.filter((_, index) => (under >> index) % 2 === 1).map(({ id }) => id),
      }),
    ),
  );
  return { caller, rows: [...tops, ...mids, ...leaves] };
}
