// Random policies on a small tree of rows, compared with a plain model in memory: the rows that a caller can read, receive
// in events and write are the same for every kind of request, on both databases.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { Caller } from "../../src/declare/caller.ts";
import { Engine } from "../../src/engine/engine.ts";
import { Problem } from "../../src/errors.ts";
import { eventsTable } from "../../src/events/event.ts";
import type { ResourceModel } from "../../src/model/model.ts";
import type { ListRequest, Member, Selection, Sort } from "../../src/query/read.ts";
import { select, wholeRow } from "../../src/query/selection.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../support/server.ts";
import {
  anyDeclarations,
  anyForest,
  anyPolicies,
  body,
  type Declarations,
  type Forest,
  type Level,
  levels,
  type Policies,
  PolicyModel,
  progressOf,
  type Row,
  resolve,
} from "./policy-model.ts";
import { modelOf, open, plantIn, planting } from "./policy-rows.ts";

onEachDatabase("random policies agree with a plain model", (database) => {
  let workspace: Workspace;
  let store: Store;
  before(async () => {
    workspace = await makeWorkspace(database);
    store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesOf(planting, [tenantsTable, eventsTable]));
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  const plant = (forest: Forest) => plantIn(store, forest);
  const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => id).sort();

  for (const inherits of [true, false]) {
    const title = inherits ? "inherited on each level" : "not inherited by the middle level";
    const prepare = (declarations: Declarations, first: Policies) => {
      const expected = new PolicyModel(inherits, declarations, first);
      const model = modelOf(inherits, declarations, () => expected.policies);
      return { expected, engine: new Engine(model, store), of: (level: Level) => model.resource.get(level)! };
    };

    test(`lists, pages, totals, searches, events and nested rows, ${title}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          anyForest,
          anyDeclarations,
          fc.array(anyPolicies, { minLength: 5, maxLength: 5 }),
          async (forest, declarations, tried) => {
            const { caller, rows } = await plant(forest);
            const { expected, engine, of } = prepare(declarations, open);
            expected.rows.push(...rows);
            const isVisible = (row: Row): boolean => expected.isVisible(row);
            for (const policies of tried) {
              expected.policies = resolve(policies, rows);
              for (const level of levels) {
                const all = rows.filter((row) => row.level === level);
                const visible = ids(all.filter(isVisible));
                assert.deepEqual(await pagesOf(engine, caller, of(level)), visible);
                assert.deepEqual(
                  await searchFor("a", engine, caller, of(level)),
                  ids(all.filter((row) => isVisible(row) && hasWord(row))),
                );
                const seen = await engine.areVisible(
                  caller,
                  of(level),
                  all.map(({ values }) => ({ row: values, deletedParents: [] })),
                );
                assert.deepEqual(ids(all.filter((_, index) => seen[index])), visible);
                for (const row of all) {
                  const result = await engine.get(caller, oneOf(of(level), row.id)).catch(codeOf);
                  assert.equal(result === "not_found", !isVisible(row));
                }
              }
              for (const parent of rows.filter(({ level }) => level !== "leaf")) {
                const level = parent.level === "top" ? "mid" : "leaf";
                const inside = rows.filter((row) => row.parent === parent && isVisible(row));
                const result = await pagesOf(engine, caller, of(level), parent.id).catch(codeOf);
                assert.deepEqual(result, isVisible(parent) ? ids(inside) : "not_found");
              }
              assert.deepEqual(await nestedDown(engine, caller, of), expectedDown(rows, isVisible));
              assert.deepEqual(await nestedUp(engine, caller, of), expectedUp(rows, isVisible));
            }
          },
        ),
        { numRuns: randomRuns(24, 12), endOnFailure: true },
      );
    });

    test(`writes, ${title}`, async () => {
      const anyWrite = fc.record({
        policies: anyPolicies,
        level: fc.constantFrom(...levels),
        pick: fc.nat(),
        body,
        peer: fc.option(fc.nat(), { freq: 2 }),
        kind: fc.constantFrom("create", "update", "update", "replace", "delete"),
      });
      type AnyWrite = typeof anyWrite extends fc.Arbitrary<infer Each> ? Each : never;
      await fc.assert(
        fc.asyncProperty(
          anyForest,
          anyDeclarations,
          fc.array(anyWrite, { minLength: 30, maxLength: 30 }),
          async (forest, declarations, writes) => {
            const { caller, rows: planted } = await plant(forest);
            const { expected, engine, of } = prepare(declarations, open);
            expected.rows.push(...planted);
            for (const write of writes) {
              const candidates = expected.rows.filter((row) => row.level === write.level);
              const row = candidates[write.pick % candidates.length];
              if (!row) continue;
              expected.policies = resolve(write.policies, planted);
              const tops = expected.rows.filter(({ level }) => level === "top");
              const peer = write.peer === null ? null : (tops[write.peer % tops.length] ?? null);
              const ofLeaf = { peerId: peer?.id ?? null, friendIds: peer ? [peer.id] : [] };
              const input = { ...write.body, ...(write.level === "leaf" && ofLeaf) };
              const resourceModel = of(write.level);
              const { outcome, apply } = outcomeOf(expected, write, row, peer, input);
              const writing = {
                create: () => engine.create(caller, resourceModel, input, row.parent?.id),
                update: () => engine.update(caller, resourceModel, row.id, input),
                replace: () => engine.replace(caller, resourceModel, row.id, input),
                delete: async () => void (await engine.delete(caller, resourceModel, row.id)),
              }[write.kind]!;
              const result = await writing().catch(codeOf);
              assert.equal(typeof result === "string" ? result : "written", outcome);
              if (typeof result !== "string") apply(result?.id, result && JSON.parse(result.text));
            }
          },
        ),
        { numRuns: randomRuns(24, 12), endOnFailure: true },
      );

      /** What the model expects of a write, and how it changes its rows. */
      function outcomeOf(expected: PolicyModel, write: AnyWrite, row: Row, peer: Row | null, input: object) {
        const { kind, level } = write;
        const rows = expected.rows;
        const refused = (outcome: string) => ({ outcome, apply: () => {} });
        const meets = (each: Row, operation: "create" | "update"): boolean =>
          expected.isVisible(each) && expected.isWritable(each, operation);
        if (kind === "delete") {
          if (!expected.isVisible(row)) return refused("not_found");
          if (!expected.isWritable(row, "delete")) return refused("forbidden");
          const isGone = (each: Row | undefined): boolean =>
            each !== undefined && (each === row || isGone(each.parent));
          if (rows.some((each) => each.values.peerId === row.id && !isGone(each))) return refused("conflict");
          const [kept, gone] = [rows.filter((each) => !isGone(each)), rows.filter(isGone)];
          const apply = (): void => {
            rows.splice(0, rows.length, ...kept);
            for (const each of kept) takeOff(each, gone);
          };
          return { outcome: "written", apply };
        }
        if (kind === "create") {
          if (row.parent && !expected.isVisible(row.parent)) return refused("not_found");
          if (level === "leaf" && peer && !expected.isVisible(peer)) return refused("validation_error");
          const parentId = row.parent && { [`${row.parent.level}Id`]: row.parent.id };
          const values = { ...withProgress(input), ...parentId };
          const added: Row = { level, parent: row.parent, id: "new", values };
          rows.push(added);
          const isAllowed = meets(added, "create");
          rows.pop();
          if (!isAllowed) return refused("forbidden");
          return {
            outcome: "written",
            apply: (id?: string, values?: Row["values"]) =>
              void rows.push({ ...added, id: id!, values: values! }),
          };
        }
        if (!expected.isVisible(row)) return refused("not_found");
        if (!expected.isWritable(row, "update")) return refused("forbidden");
        const isNewPeer =
          level === "leaf" &&
          peer !== null &&
          (peer.id !== row.values.peerId || !friendsOf(row).includes(peer.id));
        if (isNewPeer && !expected.isVisible(peer)) return refused("validation_error");
        const { values } = row;
        row.values = { ...values, ...withProgress(input) };
        const isAllowed = meets(row, "update");
        row.values = values;
        if (!isAllowed) return refused("forbidden");
        return {
          outcome: "written",
          apply: (_id?: string, written?: Row["values"]) => {
            row.values = written!;
          },
        };
      }
    });
  }
});

function friendsOf({ values: { friendIds } }: Row): readonly unknown[] {
  return Array.isArray(friendIds) ? friendIds : [];
}

/** Takes rows off the friends of a row. */
function takeOff(row: Row, gone: readonly Row[]): void {
  const friendIds = friendsOf(row).filter((each) => !gone.some(({ id }) => id === each));
  if (row.level === "leaf") row.values = { ...row.values, friendIds };
}

type ModelOf = (level: Level) => ResourceModel;

function withProgress(values: object): Row["values"] {
  return { ...values, progress: progressOf(values as Row["values"]) };
}

function hasWord({ values: { word } }: Row): boolean {
  return typeof word === "string" && /(?:^| )a/i.test(word);
}

/** The whole tree as one statement: tops with their mids, with their leaves. */
async function nestedDown(engine: Engine, caller: Caller, of: ModelOf): Promise<object> {
  const leaves = listMember("leaves", of("leaf"), idOf(of("leaf")));
  const mids = listMember("mids", of("mid"), idOf(of("mid"), leaves));
  const { rows } = await engine.list(caller, readOf(of("top"), idOf(of("top"), mids), 100));
  return sorted(JSON.parse(rows));
}

function expectedDown(rows: readonly Row[], isVisible: (row: Row) => boolean): object {
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
async function nestedUp(engine: Engine, caller: Caller, of: ModelOf): Promise<object> {
  const inside = rowMember(of("leaf"), idOf(of("mid"), rowMember(of("mid"), idOf(of("top")))));
  const { rows } = await engine.list(caller, readOf(of("leaf"), idOf(of("leaf"), inside), 100));
  return sorted(JSON.parse(rows));
}

function expectedUp(rows: readonly Row[], isVisible: (row: Row) => boolean): object {
  const leaves = rows.filter((row) => row.level === "leaf" && isVisible(row));
  return sorted(
    leaves.map(({ id, parent }) => {
      const top = parent!.parent!;
      return { id, mid: { id: parent!.id, top: isVisible(top) ? { id: top.id } : null } };
    }),
  );
}

async function searchFor(word: string, engine: Engine, caller: Caller, of: ResourceModel): Promise<string[]> {
  const { rows } = await engine.list(caller, { ...readOf(of, idOf(of), 100), words: [word] });
  return (JSON.parse(rows) as { id: string }[]).map(({ id }) => id).sort();
}

function idOf(of: ResourceModel, ...more: Member[]): Selection {
  return select([of.attribute.get("id")!], more);
}

function newest(of: ResourceModel): Sort {
  return [{ attribute: of.sorts.get("createdAt")!, isDescending: true }];
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
  const sort: Sort = [{ attribute: of.attribute.get("rank")!, isDescending: false }];
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
