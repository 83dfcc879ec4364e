// Random pairs of declarations: after the migration and the contraction, which two processes run at the same time, every
// row has the values that a plain model of the change predicts.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

type Fields = Parameters<typeof resource>[1]["fields"];

/** How a field changes: the old field, the new one, and the new value for an old one. */
interface Change {
  readonly before?: (name: string) => Fields;
  readonly after?: (name: string) => Fields;
  readonly newValue?: (old: string | null) => string | null;
  readonly isRequiredBefore?: boolean;
  readonly isDropped?: boolean;
}

const required = text({ max: 50 });
const optional = text({ max: 50, optional: true });
const both = (
  before: Fields[string],
  after: Fields[string],
  newValue: Change["newValue"],
  rest: Change = {},
): Change => ({
  before: (name) => ({ [name]: before }),
  after: (name) => ({ [name]: after }),
  newValue,
  ...rest,
});

const changes: readonly Change[] = [
  both(required, required, (old) => old, { isRequiredBefore: true }),
  both(optional, optional, (old) => old),
  both(required, optional, (old) => old, { isRequiredBefore: true }),
  both(optional, text({ max: 50, fill: "constant" }), (old) => old ?? "constant"),
  both(optional, text({ max: 50, fill: ({ id }) => String(id).slice(0, 4) }), (old) => old ?? "note"),
  {
    before: (name) => ({ [name]: optional }),
    after: (name) => ({ [`${name}New`]: text({ max: 50, was: name, fill: "renamed" }) }),
    newValue: (old) => old ?? "renamed",
  },
  { after: (name) => ({ [name]: text({ max: 50, fill: "added" }) }), newValue: () => "added" },
  { after: (name) => ({ [name]: text({ max: 50, fill: () => "computed" }) }), newValue: () => "computed" },
  { after: (name) => ({ [name]: optional }), newValue: () => null },
  { before: (name) => ({ [name]: required }), isRequiredBefore: true },
  { before: (name) => ({ [name]: optional }), isDropped: true },
];

const tenantId = newId("tenant");
const now = "2026-11-21T09:30:00.000Z";
const names = ["first", "second", "third"];

function modelOf(fields: Fields): Model {
  const declare = resource as unknown as (name: string, declaration: object) => Resource;
  return buildModel(app({ name: "Random", resources: [declare("note", { fields })] }), []);
}

onEachDatabase("random changes of declarations", (database) => {
  test("keep, fill and drop what a plain model predicts", { timeout: 300_000 }, async () => {
    const value = fc.option(fc.string({ maxLength: 10, unit: "grapheme-ascii" }));
    const rows = fc.array(fc.tuple(value, value, value), { maxLength: 8 });
    const picked = fc.tuple(...names.map(() => fc.constantFrom(...changes)));
    await fc.assert(
      fc.asyncProperty(picked, rows, (chosen, values) => check(database, chosen, values)),
      { numRuns: randomRuns(36, 12) },
    );
  });
});

async function check(
  database: Parameters<Parameters<typeof onEachDatabase>[1]>[0],
  chosen: readonly Change[],
  values: readonly (readonly (string | null)[])[],
): Promise<void> {
  const workspace = await makeWorkspace(database);
  const stores = await Promise.all([1, 2].map(() => openStore(workspace.databaseUrl)));
  const [store] = stores as [(typeof stores)[number]];
  try {
    const oldModel = modelOf(
      Object.assign({}, ...chosen.map(({ before }, index) => before?.(names[index]!))),
    );
    const newModel = modelOf(Object.assign({}, ...chosen.map(({ after }, index) => after?.(names[index]!))));
    await migrate(store, tablesOf(oldModel, [tenantsTable]));
    await insertTenant(store, tenantId);
    const expected = new Map<string, Record<string, unknown>>();
    for (const row of values) {
      const id = newId("note");
      const stored: Record<string, unknown> = { id, createdAt: now, updatedAt: now };
      const after: Record<string, unknown> = {};
      for (const [index, change] of chosen.entries()) {
        const old = change.isRequiredBefore ? (row[index] ?? "") : row[index]!;
        if (change.before) stored[names[index]!] = old;
        const [name] = Object.keys(change.after?.(names[index]!) ?? {});
        if (name !== undefined) after[name] = change.newValue!(change.before ? old : null);
      }
      const insert = { resource: oldModel.resource.get("note")!, tenantId, values: stored };
      await store.transaction((session) => store.writes.insert(session, insert as never));
      expected.set(id, after);
    }
    const tables = tablesOf(newModel, [tenantsTable]);
    const kept = chosen.flatMap(({ after }, index) => (after ? [] : [`notes.${names[index]}`]));
    await Promise.all(stores.map((each) => migrate(each, tables, { kept })));
    await Promise.all(stores.map((each) => migrate(each, tables, { kept, isContraction: true })));
    const drops = chosen.flatMap(({ isDropped }, index) =>
      isDropped ? [{ name: "", table: "notes", column: names[index]! }] : [],
    );
    await migrate(store, tables, { kept, drops });
    assert.deepEqual((await migrate(store, tables, { kept, isContraction: true })).statements, []);
    const note = newModel.resource.get("note")!;
    for (const [id, after] of expected) {
      const found = await store.get(tenantId, {
        resource: note,
        selection: wholeRow(note),
        id,
        conditions: [],
      });
      const { id: _, createdAt: __, updatedAt: ___, ...row } = JSON.parse(found!);
      assert.deepEqual(row, after);
    }
  } finally {
    for (const each of stores) await each.database.close();
    await workspace.remove();
  }
}
