// Random policies on a small tree of rows, compared with a plain model in memory: the rows that a caller can read, receive
// in events and write are the same for every kind of request, on both databases.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import {
  boolean,
  choice,
  computedStatus,
  integer,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { type Resource, type RowFilter, resource } from "../../src/declare/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { Problem } from "../../src/errors.ts";
import { eventsTable } from "../../src/events/event.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model, ResourceModel } from "../../src/model/model.ts";
import type { ListRequest, Member, Selection, Sort } from "../../src/query/read.ts";
import { select, wholeRow } from "../../src/query/selection.ts";
import { openStore } from "../../src/store/open.ts";
import { tablesOf } from "../../src/store/schema/ddl.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";

const levels = ["top", "mid", "leaf"] as const;
type Level = (typeof levels)[number];
type Policies = Readonly<Record<Level, RowFilter | undefined>>;

/** The filters that the policies return. Each run sets them. */
let policies: Policies = { top: undefined, mid: undefined, leaf: undefined };

const fields = {
  word: text({ max: 20, optional: true }),
  rank: integer({ optional: true }),
  weight: number({ optional: true }),
  isOpen: boolean({ optional: true }),
  kind: choice(["plain", "rich"], { optional: true }),
  endsAt: timestamp({ optional: true }),
  progress: computedStatus("under_way", [{ status: "over", from: "endsAt" }]),
};

/** @param inherits whether rows of the middle level are visible only if their parent is */
function modelOf(inherits: boolean): Model {
  const declare = resource as unknown as (name: string, declaration: object) => Resource;
  const common = { fields, filter: ["kind", "rank"], sort: ["rank"] };
  const top = declare("top", { ...common, policy: () => policies.top });
  const mid = declare("mid", { ...common, parent: top, policy: () => policies.mid, inheritPolicy: inherits });
  const leaf = declare("leaf", { ...common, plural: "leaves", parent: mid, policy: () => policies.leaf });
  return buildModel(app({ name: "Tree", resources: [top, mid, leaf] }), []);
}

const [long, soon] = ["2001-02-03T04:05:06.789Z", "2901-02-03T04:05:06.789Z"];
/** Values of the writable fields. */
const inputValues = {
  word: ["a", "A", "é", "", "'", "a b"],
  rank: [0, 1, -1, 2 ** 53 - 1],
  weight: [0, 0.1, -2.5, 1e21],
  isOpen: [true, false],
  kind: ["plain", "rich"],
  endsAt: [long, soon],
} as const;
/** The same values, in the forms that a policy can return. */
const written = {
  ...inputValues,
  endsAt: [long, soon, "2001-02-03T05:05:06.789+01:00"],
  progress: ["over", "under_way"],
};

type Body = Readonly<Record<string, string | number | boolean | null>>;

const body: fc.Arbitrary<Body> = fc.record(
  Object.fromEntries(
    Object.entries(inputValues).map(([name, values]) => [
      name,
      fc.option(fc.constantFrom<unknown>(...values), { freq: 3 }),
    ]),
  ),
) as fc.Arbitrary<Body>;

/** The computed status is more frequent, because it is the hardest to get right. */
const member = fc.constantFrom(...Object.keys(written), "progress", "progress").chain((name) => {
  const value = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<unknown>(...written[name as keyof typeof written]) },
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  return fc.tuple(fc.constant(name), fc.oneof(value, fc.array(value, { maxLength: 4 })));
});
const filter = fc.option(
  fc.array(member, { maxLength: 2 }).map((members) => Object.fromEntries(members) as RowFilter),
  { nil: undefined, freq: 3 },
);
const anyPolicies: fc.Arbitrary<Policies> = fc.record({ top: filter, mid: filter, leaf: filter });

/** The rows of a tree: each has a body, and each child an arbitrary parent. */
const forest = fc.record({
  top: fc.array(body, { minLength: 1, maxLength: 3 }),
  mid: fc.array(fc.tuple(fc.nat(), body), { minLength: 1, maxLength: 6 }),
  leaf: fc.array(fc.tuple(fc.nat(), body), { minLength: 1, maxLength: 12 }),
});

type Forest = typeof forest extends fc.Arbitrary<infer Planted> ? Planted : never;

interface Row {
  readonly level: Level;
  readonly parent: Row | undefined;
  readonly id: string;
  values: Readonly<Record<string, unknown>>;
}

function matches(filter: RowFilter | undefined, values: Row["values"]): boolean {
  return Object.entries(filter ?? {}).every(([name, allowed]) =>
    [allowed].flat().some((value) => value !== undefined && normal(name, value) === values[name]),
  );
}

function normal(name: string, value: unknown): unknown {
  return name === "endsAt" && typeof value === "string" ? new Date(value).toISOString() : value;
}

function progressOf({ endsAt }: Body): string {
  return endsAt === long ? "over" : "under_way";
}

onEachDatabase("random policies agree with a plain model", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(modelOf(true), [tenantsTable, eventsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  for (const inherits of [true, false]) {
    const model = modelOf(inherits);
    const scopes = new Set(model.scopes);
    const resourceOf = (level: Level): ResourceModel => model.resource.get(level)!;
    const isVisible = ({ level, values, parent }: Row): boolean =>
      matches(policies[level], values) &&
      (parent === undefined || (level === "mid" && !inherits) || isVisible(parent));

    /** Creates the rows in a new tenant. */
    const insertForest = async (
      engine: Engine,
      { top, mid, leaf }: Forest,
      caller: Caller,
    ): Promise<Row[]> => {
      policies = { top: undefined, mid: undefined, leaf: undefined };
      const make = async (level: Level, parent: Row | undefined, values: Body): Promise<Row> => {
        const { id, text } = await engine.create(caller, resourceOf(level), values, parent?.id);
        return { level, parent, id, values: JSON.parse(text) };
      };
      const tops = await Promise.all(top.map((values) => make("top", undefined, values)));
      const mids = await Promise.all(
        mid.map(([under, values]) => make("mid", tops[under % tops.length], values)),
      );
      const leaves = await Promise.all(
        leaf.map(([under, values]) => make("leaf", mids[under % mids.length], values)),
      );
      return [...tops, ...mids, ...leaves];
    };
    const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => id).sort();

    const title = inherits ? "inherited on each level" : "not inherited by the middle level";
    test(`lists, pages, totals and nested rows, ${title}`, async () => {
      const engine = new Engine(model, store);
      await fc.assert(
        fc.asyncProperty(
          forest,
          fc.array(anyPolicies, { minLength: 5, maxLength: 5 }),
          async (forest, tried) => {
            const { id: tenantId } = await createTenant(store, "Random");
            const caller: Caller = {
              kind: "key",
              tenantId,
              userId: null,
              role: null,
              credentialId: "key",
              scopes,
            };
            const rows = await insertForest(engine, forest, caller);
            for (policies of tried) {
              for (const level of levels) {
                const all = rows.filter((row) => row.level === level);
                const visible = ids(all.filter(isVisible));
                assert.deepEqual(await pagesOf(engine, caller, resourceOf(level)), visible);
                const seen = await engine.areVisible(
                  caller,
                  resourceOf(level),
                  all.map(({ values }) => ({ row: values, deletedParents: [] })),
                );
                assert.deepEqual(ids(all.filter((_, index) => seen[index])), visible);
                for (const row of all) {
                  const result = await engine.get(caller, oneOf(resourceOf(level), row.id)).catch(codeOf);
                  assert.equal(result === "not_found", !isVisible(row));
                }
              }
              for (const parent of rows.filter(({ level }) => level !== "leaf")) {
                const level = parent.level === "top" ? "mid" : "leaf";
                const inside = rows.filter((row) => row.parent === parent && isVisible(row));
                const result = await pagesOf(engine, caller, resourceOf(level), parent.id).catch(codeOf);
                assert.deepEqual(result, isVisible(parent) ? ids(inside) : "not_found");
              }
              assert.deepEqual(await nestedDown(engine, caller), expectedDown(rows));
              assert.deepEqual(await nestedUp(engine, caller), expectedUp(rows));
            }
          },
        ),
        { numRuns: 15 },
      );
    });

    test(`writes, ${title}`, async () => {
      const engine = new Engine(model, store);
      const anyWrite = fc.record({
        policies: anyPolicies,
        level: fc.constantFrom(...levels),
        pick: fc.nat(),
        body,
        kind: fc.constantFrom("create", "change", "replace"),
      });
      await fc.assert(
        fc.asyncProperty(
          forest,
          fc.array(anyWrite, { minLength: 40, maxLength: 40 }),
          async (planted, writes) => {
            const { id: tenantId } = await createTenant(store, "Random");
            const caller: Caller = {
              kind: "key",
              tenantId,
              userId: null,
              role: null,
              credentialId: "key",
              scopes,
            };
            const rows = await insertForest(engine, planted, caller);
            for (const write of writes) {
              const { level, kind } = write;
              const of = rows.filter((row) => row.level === level);
              const row = of[write.pick % of.length]!;
              policies = write.policies;
              const result = { ...(kind === "create" ? {} : row.values), ...write.body };
              const isAllowed = matches(policies[level], { ...result, progress: progressOf(write.body) });
              const isReachable = kind === "create" ? !row.parent || isVisible(row.parent) : isVisible(row);
              const expected = !isReachable ? "not_found" : isAllowed ? "written" : "forbidden";
              const resourceModel = resourceOf(level);
              const writing =
                kind === "create"
                  ? engine.create(caller, resourceModel, write.body, row.parent?.id)
                  : kind === "change"
                    ? engine.update(caller, resourceModel, row.id, write.body)
                    : engine.replace(caller, resourceModel, row.id, write.body);
              const written = await writing.catch(codeOf);
              assert.equal(typeof written === "string" ? written : "written", expected);
              if (typeof written === "string") continue;
              const values = JSON.parse(written.text);
              if (kind === "create") rows.push({ level, parent: row.parent, id: written.id, values });
              else row.values = values;
            }
          },
        ),
        { numRuns: 15 },
      );
    });

    /** The whole tree as one statement: tops with their mids, with their leaves. */
    async function nestedDown(engine: Engine, caller: Caller): Promise<object> {
      const [top, mid, leaf] = levels.map(resourceOf) as [ResourceModel, ResourceModel, ResourceModel];
      const leaves = listMember("leaves", leaf, idOf(leaf));
      const mids = listMember("mids", mid, idOf(mid, leaves));
      const { rows } = await engine.list(caller, readOf(top, idOf(top, mids), 100));
      return sorted(JSON.parse(rows));
    }
    function expectedDown(rows: readonly Row[]): object {
      const childrenOf = (parent: Row): readonly Row[] =>
        rows.filter((row) => row.parent === parent && isVisible(row));
      const tops = rows.filter((row) => row.level === "top" && isVisible(row));
      return sorted(
        tops.map((top) => ({
          id: top.id,
          mids: childrenOf(top).map((mid) => ({
            id: mid.id,
            leaves: childrenOf(mid).map(({ id }) => ({ id })),
          })),
        })),
      );
    }
    /** Leaves with their parents and grandparents. */
    async function nestedUp(engine: Engine, caller: Caller): Promise<object> {
      const [top, mid, leaf] = levels.map(resourceOf) as [ResourceModel, ResourceModel, ResourceModel];
      const inside = rowMember(leaf, idOf(mid, rowMember(mid, idOf(top))));
      const { rows } = await engine.list(caller, readOf(leaf, idOf(leaf, inside), 100));
      return sorted(JSON.parse(rows));
    }
    function expectedUp(rows: readonly Row[]): object {
      const leaves = rows.filter((row) => row.level === "leaf" && isVisible(row));
      return sorted(
        leaves.map(({ id, parent }) => {
          const top = parent!.parent!;
          return { id, mid: { id: parent!.id, top: isVisible(top) ? { id: top.id } : null } };
        }),
      );
    }
  }
});

function idOf(of: ResourceModel, ...more: Member[]): Selection {
  return select([of.attribute.get("id")!], more);
}

function newest(of: ResourceModel): Sort {
  return { attribute: of.sorts.get("createdAt")!, isDescending: true };
}

function listMember(name: string, of: ResourceModel, selection: Selection): Member {
  return {
    kind: "list",
    name,
    resource: of,
    reference: of.parent!,
    selection,
    conditions: [],
    sort: newest(of),
    limit: 100,
  };
}

function rowMember(of: ResourceModel, selection: Selection): Member {
  return { kind: "row", name: of.parent!.reference!.name, reference: of.parent!, selection, conditions: [] };
}

function readOf(of: ResourceModel, selection: Selection, limit: number, parentId?: string): ListRequest {
  const page = { style: "cursor", limit, cursor: undefined, isBackward: false } as const;
  const within = parentId === undefined ? undefined : { by: of.parent!, id: parentId };
  return { resource: of, within, selection, conditions: [], words: [], sort: newest(of), page };
}

function oneOf(of: ResourceModel, id: string) {
  return { resource: of, selection: wholeRow(of), id, conditions: [] };
}

/** The ids of all pages, sorted by a nullable attribute. Asserts that the total of numbered pages is their number. */
async function pagesOf(
  engine: Engine,
  caller: Caller,
  of: ResourceModel,
  parentId?: string,
): Promise<string[]> {
  const sort = { attribute: of.attribute.get("rank")!, isDescending: false };
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = { style: "cursor", limit: 2, cursor, isBackward: false } as const;
    const { rows, hasMore, endCursor } = await engine.list(caller, {
      ...readOf(of, idOf(of), 2, parentId),
      sort,
      page,
    });
    ids.push(...(JSON.parse(rows) as { id: string }[]).map(({ id }) => id));
    if (!hasMore) break;
    cursor = endCursor;
  }
  const numbered = { style: "page", limit: 1, number: 1 } as const;
  const { total } = await engine.list(caller, { ...readOf(of, idOf(of), 1, parentId), page: numbered });
  assert.equal(total, ids.length);
  return ids.sort();
}

/** Sorts all lists by id, because rows with the same timestamp are in the order of random ids. */
function sorted(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_, each) =>
    Array.isArray(each) ? each.sort((one, other) => (one.id < other.id ? -1 : 1)) : each,
  );
}

function codeOf(error: unknown): string {
  if (error instanceof Problem) return error.code;
  throw error;
}
