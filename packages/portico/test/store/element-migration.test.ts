// The index of the elements of a list, when a filter is declared for rows that exist, and when it goes again.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { list, manyToMany, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { select } from "../../src/query/selection.ts";
import { singleSort } from "../../src/query/sort.ts";
import { ConstraintError } from "../../src/store/database.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate, pendingChanges } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const tenantId = newId("tenant");
const fields = { title: text({ max: 20 }), tags: list(text({ max: 20 }), { optional: true }) };
const plain = modelOf(resource("note", { fields }));
const filtered = modelOf(resource("note", { fields, filter: ["tags"] }));
const without = modelOf(resource("note", { fields: { title: fields.title } }));

function modelOf(...resources: Parameters<typeof app>[0]["resources"]): Model {
  return buildModel(app({ name: "Notes", resources }), []);
}

onEachDatabase("an index of elements as declarations change", (database) => {
  test("rows of every version are indexed, also by a migration that was interrupted", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await insertTenant(store, tenantId);
      await migrate(store, tablesOf(plain, []));
      const rows: string[] = [];
      for (let count = 0; count < 600; count += 1)
        rows.push(await insert(store, plain, [["a"], ["b", "b"], ["a", "b"], [], null][count % 5]!));
      ok((await pendingChanges(store, tablesOf(filtered, []))).length > 0);
      const interrupted = new Error("interrupted");
      const onProgress = (_step: string, done: number): void => {
        if (done >= 500) throw interrupted;
      };
      await rejects(migrate(store, tablesOf(filtered, []), { onProgress }), interrupted);
      ok((await pendingChanges(store, tablesOf(filtered, []))).length > 0, "it is not done");
      // An earlier version writes on, rows that are indexed and rows that are not.
      await update(store, plain, rows[0]!, ["c"]);
      await update(store, plain, rows.at(-2)!, ["c", "a"]);
      await remove(store, plain, rows[1]!);
      const added = await insert(store, plain, ["c"]);
      const { statements } = await migrate(store, tablesOf(filtered, []));
      equal(statements.filter((each) => each.includes("index the elements")).length, 1);
      deepEqual(await pendingChanges(store, tablesOf(filtered, [])), []);
      deepEqual(await withTag(store, filtered, "c"), [added, rows.at(-2)!, rows[0]!]);
      const ofA = rows.filter((_, index) => index % 5 === 0 || index % 5 === 2).slice(1);
      deepEqual((await withTag(store, filtered, "a")).toReversed(), [...ofA, rows.at(-2)!].sort());
      equal((await withTag(store, filtered, "b")).length, 239);

      // An earlier version may still filter, so the index goes with the contraction.
      deepEqual((await migrate(store, tablesOf(plain, []))).statements, []);
      const last = await insert(store, plain, ["c"]);
      equal((await withTag(store, filtered, "c"))[0], last);
      await migrate(store, tablesOf(plain, []), { isContraction: true });
      deepEqual(await tablesOfElements(store), []);
      await insert(store, plain, ["c"]);
      await migrate(store, tablesOf(filtered, []));
      equal((await withTag(store, filtered, "c")).length, 5);

      const drops = [{ name: "notes.tags", table: "notes", column: "tags" }];
      await migrate(store, tablesOf(without, []), { drops });
      deepEqual(await tablesOfElements(store), []);
      await insert(store, without, null);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });

  test("a many-to-many field is added to rows that exist, and goes with what it refers to", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await insertTenant(store, tenantId);
      const title = fields.title;
      const labels = resource("label", { fields: { title } });
      const before = modelOf(labels, resource("note", { fields: { title } }));
      const linked = modelOf(
        labels,
        resource("note", { fields: { title, labels: manyToMany(() => labels) } }),
      );
      await migrate(store, tablesOf(before, []));
      const [old, label] = [await insert(store, before, null), await insert(store, before, null, "label")];
      await migrate(store, tablesOf(linked, []));
      deepEqual(await pendingChanges(store, tablesOf(linked, [])), []);
      equal((await insert(store, before, null)).length, old.length, "an earlier version adds rows");
      const note = linked.resource.get("note")!;
      const write = (labelIds: readonly string[]) =>
        store.transaction((session) =>
          store.writes.update(session, { resource: note, tenantId, id: old, values: { labelIds } }),
        );
      await write([label]);
      const by = { resource: note, attribute: note.attribute.get("labelIds")! };
      deepEqual(await store.linked.ids(store.database, tenantId, by, label), [old]);
      await rejects(write([newId("label")]), ConstraintError);
      await rejects(remove(store, linked, label, "label"), ConstraintError);

      const alone = modelOf(resource("note", { fields: { title } }));
      const dropLabels = { name: "labels", table: "labels" };
      await rejects(
        migrate(store, tablesOf(alone, []), { drops: [dropLabels] }),
        /the rows of notes have its ids in label_ids; drop notes.labelIds too/,
      );
      const dropIds = { name: "notes.labelIds", table: "notes", column: "label_ids" };
      await migrate(store, tablesOf(alone, []), { drops: [dropLabels, dropIds] });
      deepEqual(await tablesOfElements(store), []);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });

  test("the index goes with the table", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await insertTenant(store, tenantId);
      await migrate(store, tablesOf(filtered, []));
      await insert(store, filtered, ["a"]);
      const other = modelOf(resource("page", { fields: { title: fields.title } }));
      await migrate(store, tablesOf(other, []), { drops: [{ name: "notes", table: "notes" }] });
      deepEqual(await tablesOfElements(store), []);
      await migrate(store, tablesOf(filtered, []));
      await insert(store, filtered, ["a"]);
      equal((await withTag(store, filtered, "a")).length, 1);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });
});

async function tablesOfElements(store: Store): Promise<unknown[]> {
  const catalogue =
    store.dialect.name === "sqlite"
      ? "select name from sqlite_schema where name like '%elements%'"
      : "select relname from pg_class where relname like '%elements%' union all select proname from pg_proc where proname like 'portico_elements%'";
  return [...(await store.database.query({ sql: catalogue, bind: () => [] }, undefined))];
}

async function insert(
  store: Store,
  model: Model,
  tags: readonly string[] | null,
  name = "note",
): Promise<string> {
  const resource = model.resource.get(name)!;
  const now = new Date().toISOString();
  const id = newId(name);
  const values = { id, title: "Note", tags, createdAt: now, updatedAt: now };
  await store.transaction((session) => store.writes.insert(session, { resource, tenantId, values }));
  return id;
}

async function update(store: Store, model: Model, id: string, tags: readonly string[]): Promise<void> {
  const resource = model.resource.get("note")!;
  await store.transaction((session) =>
    store.writes.update(session, { resource, tenantId, id, values: { tags } }),
  );
}

async function remove(store: Store, model: Model, id: string, name = "note"): Promise<void> {
  const resource = model.resource.get(name)!;
  await store.transaction((session) => store.writes.delete(session, { resource, tenantId, id }));
}

/** The ids of all rows that have a tag, newest first, as the index has them. */
async function withTag(store: Store, model: Model, tag: string): Promise<string[]> {
  const resource = model.resource.get("note")!;
  const page = await store.list(tenantId, {
    resource,
    selection: select([resource.attribute.get("id")!]),
    conditions: [{ attribute: resource.attribute.get("tags")!, operator: "in", values: [tag] }],
    words: [],
    sort: singleSort(resource, "-createdAt")!,
    page: { style: "first", limit: 1_000 },
  });
  return JSON.parse(page.rows).map(({ id }: { id: string }) => id);
}
