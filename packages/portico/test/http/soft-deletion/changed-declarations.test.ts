// Soft deletion that is turned on and off, and fields that change while rows are deleted, beside a server of the earlier
// version.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { boolean, integer, list, text } from "../../../src/declare/field.ts";
import { type Resource, resource } from "../../../src/declare/resource.ts";
import { undeclaredColumns, undeclaredTables } from "../../../src/store/schema/undeclared.ts";
import { expectAnswer } from "../../support/scenario.ts";
import { onEachDatabase, type Portico } from "../../support/server.ts";
import { TwoVersions, tablesFor } from "../../support/two-versions.ts";

const declare = resource as unknown as (name: string, declaration: object) => Resource;

/** A note with comments. */
function notes(declaration: object, softDelete: boolean): readonly Resource[] {
  const note = declare("note", { ...declaration, softDelete });
  return [note, declare("comment", { parent: note, fields: { body: text({ max: 50 }) } })];
}

const plain = { fields: { slug: text({ max: 50, unique: true }) }, search: ["slug"] };
const earlier = {
  fields: {
    title: text({ max: 50 }),
    isRed: boolean({ default: true }),
    label: text({ max: 50, optional: true }),
    tags: list(text({ max: 20 }), { default: [] }),
  },
};
const later = {
  fields: {
    name: text({ max: 50, was: "title" }),
    rank: integer({ default: 3 }),
    label: text({ max: 50, fill: "none" }),
    kind: text({ max: 50, fill: ({ name }) => `kind of ${name}` }),
    tags: list(text({ max: 20 }), { default: [] }),
  },
  filter: ["kind", "tags"],
  sort: ["name"],
};

const remove = (server: Portico, id: string) => server.request(`/notes/${id}`, { method: "DELETE" });
const restore = (server: Portico, id: string) =>
  server.request(`/notes/${id}/restorations`, { method: "POST" });
async function create(server: Portico, body: object): Promise<string> {
  const { status, body: row, text: answer } = await server.request("/notes", { body });
  assert.equal(status, 201, answer);
  expectAnswer(await server.request(`/notes/${row.id}/comments`, { body: { body: "comment" } }), {
    status: 201,
  });
  return row.id;
}

onEachDatabase("changed declarations with soft deletion", (database) => {
  describe("turned on", () => {
    let versions: TwoVersions;
    before(async () => {
      versions = await TwoVersions.start(database, notes(plain, false), notes(plain, true));
    });
    after(() => versions?.stop());

    test("the earlier version shows no deleted row, and deletes rows for good", async () => {
      const { old, new: newer } = versions;
      const [kept, lost] = [await create(old, { slug: "kept" }), await create(old, { slug: "lost" })];
      expectAnswer(await remove(newer, kept), { status: 204 });
      expectAnswer(await old.request(`/notes/${kept}`), { status: 404 });
      expectAnswer(await remove(old, lost), { status: 204 });
      expectAnswer(await newer.request(`/notes/${lost}?deleted=true`), { status: 404 });
      await create(old, { slug: "lost" });
      expectAnswer(await restore(newer, kept), { status: 201, body: { slug: "kept" } });
      expectAnswer(await old.request(`/notes/${kept}`), { status: 200 });
      assert.equal((await old.request(`/notes/${kept}/comments`)).body.data.length, 1);
      assert.equal((await old.request("/notes?q=kept")).body.data.length, 1);
    });

    test("turned off, the deleted rows stay until their tables are dropped", async () => {
      const { new: newer, store } = versions;
      const id = await create(newer, { slug: "off" });
      await remove(newer, id);
      const without = tablesFor(notes(plain, false));
      assert.deepEqual(await undeclaredTables(store, without), ["deleted_comments", "deleted_notes"]);
      expectAnswer(await restore(newer, id), { status: 201 });
      assert.deepEqual(await undeclaredTables(store, without), []);
    });
  });

  describe("fields that change", () => {
    let versions: TwoVersions;
    const ids: string[] = [];
    before(async () => {
      versions = await TwoVersions.startOld(database, notes(earlier, true), notes(later, true));
      for (const title of ["first", "second"]) ids.push(await create(versions.old, { title, tags: ["red"] }));
      await remove(versions.old, ids[0]!);
      await versions.upgrade();
      await remove(versions.old, ids[1]!);
    });
    after(() => versions?.stop());

    const expected = (name: string) => ({ name, rank: 3, label: "none", tags: ["red"] });

    test("change of deleted rows too, also of those that the earlier version deletes", async () => {
      const { new: newer } = versions;
      for (const [index, name] of ["first", "second"].entries())
        expectAnswer(await newer.request(`/notes/${ids[index]}?deleted=true`), {
          body: expected(name),
          status: 200,
        });
      const { body } = await newer.request("/notes?deleted=true&tags=red&sort=name");
      assert.deepEqual(
        body.data.map(({ id }: { id: string }) => id),
        ids,
      );
      expectAnswer(await restore(newer, ids[0]!), {
        status: 201,
        body: { ...expected("first"), kind: "kind of first" },
      });
      expectAnswer(await versions.old.request(`/notes/${ids[0]}`), { status: 200, body: { title: "first" } });
      await remove(newer, ids[0]!);
      const drops = [{ name: "notes.isRed", table: "notes", column: "is_red" }];
      await versions.migrate({ isContraction: true, drops });
      assert.deepEqual(await undeclaredColumns(versions.store, tablesFor(notes(later, true))), []);
      for (const [index, name] of ["first", "second"].entries()) {
        const body = { ...expected(name), kind: `kind of ${name}` };
        expectAnswer(await newer.request(`/notes/${ids[index]}?deleted=true`), { status: 200, body });
        expectAnswer(await restore(newer, ids[index]!), { status: 201, body });
        assert.equal((await newer.request(`/notes/${ids[index]}/comments`)).body.data.length, 1);
        assert.equal((await newer.request(`/notes?kind=kind%20of%20${name}`)).body.data.length, 1);
      }
    });
  });
});
