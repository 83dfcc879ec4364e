// Imports of callers who see and write only some rows, and of other tenants.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { group, type Member, serveImports, until } from "../../support/imports.ts";
import { makeTenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("imports and policies", (database) => {
  const server = serveImports(database);
  let ann: Member;
  let bob: Member;
  /** A key of another tenant. */
  let stranger: string;
  const hidden = { id: "", slug: "hidden" };
  before(async () => {
    [ann, bob] = [await server.member("ann"), await server.member("bob")];
    stranger = (await makeTenant(server.workspace, "*")).key;
    const body = { title: "hidden", slug: hidden.slug };
    hidden.id = (await server.create("/notes", body, { key: bob.key })).id;
  });
  const codesOf = (body: { errors: { error: { code: string; details: unknown } }[] }): unknown[] =>
    body.errors.map(({ error }) => [error.code, error.details]);

  test("rows are written for the caller only", async () => {
    const rows = [{ title: "mine" }, { title: "his", ownerId: bob.id }];
    for (const query of ["", "?dryRun=true"]) {
      const { body } = await server.send(`notes${query}`, rows, { key: ann.key });
      assert.deepEqual([body.created, codesOf(body)], [1, [["forbidden", []]]]);
    }
    assert.equal(await server.count("title=mine"), 1);
    assert.equal(await server.count("title=his"), 0);
  });

  test("references to rows that a policy hides, or of another tenant, do not exist", async () => {
    const rows = [
      { noteId: hidden.id, body: "hidden parent" },
      { noteId: "note_00000000000000000000000000", body: "unknown parent" },
    ];
    for (const key of [ann.key, stranger]) {
      const parent = await server.create("/notes", { title: "own" }, { key });
      const referring = { noteId: parent.id, body: "x", aboutId: hidden.id };
      for (const mode of ["", "?atomic=true", "?dryRun=true"]) {
        const { status, body } = await server.send(`note-lines${mode}`, [...rows, referring], { key });
        const reference = ["validation_error", [{ field: "aboutId", issue: "reference" }]];
        assert.equal(status, 422);
        assert.deepEqual(codesOf(body), [["not_found", []], ["not_found", []], reference]);
      }
    }
    const foreign = await server.send("notes", [{ title: "x", ownerId: ann.id }], { key: stranger });
    assert.deepEqual(codesOf(foreign.body), [
      ["validation_error", [{ field: "ownerId", issue: "reference" }]],
    ]);
  });

  test("mode=upsert does not change a row that a policy hides, nor one of another tenant", async () => {
    const rows = [{ slug: hidden.slug, title: "stolen" }];
    for (const mode of ["", "&atomic=true", "&dryRun=true"]) {
      const { body } = await server.send(`notes?mode=upsert&by=slug${mode}`, rows, { key: ann.key });
      assert.deepEqual(codesOf(body), [["conflict", [{ field: "slug", issue: "duplicate" }]]]);
    }
    const elsewhere = await server.send("notes?mode=upsert&by=slug", rows, { key: stranger });
    assert.deepEqual([elsewhere.body.created, elsewhere.body.updated], [1, 0]);
    assert.equal((await server.request(`/notes/${hidden.id}`)).body.title, "hidden");
    const own = await server.send("notes?mode=upsert&by=slug", rows, { key: bob.key });
    assert.equal(own.body.updated, 1);
  });

  test("an update may not give a row to somebody else", async () => {
    await server.create("/notes", { title: "kept", slug: "kept" }, { key: ann.key });
    const rows = [{ slug: "kept", ownerId: bob.id }];
    const { body } = await server.send("notes?mode=upsert&by=slug", rows, { key: ann.key });
    assert.deepEqual(codesOf(body), [["forbidden", []]]);
  });

  test("rows that a policy hides while the import runs are hidden from its next lines", async () => {
    const { id: noteId } = await server.create("/notes", { title: "shared" }, { key: ann.key });
    const running = server.open("note-lines", ann.key);
    running.write(group({ noteId, body: "before" }));
    // A slow group is committed in parts.
    await until(async () => (await server.exported("note-lines")).length === 250);
    await server.request(`/notes/${noteId}`, { method: "PATCH", body: { ownerId: bob.id } });
    const { status, body } = await running.end([{ noteId, body: "after" }]);
    assert.deepEqual([status, body.created, codesOf(body)], [200, 250, [["not_found", []]]]);
  });

  test("an inactive user imports nothing", async () => {
    const cid = await server.member("cid");
    await server.request(`/users/${cid.id}`, { method: "PATCH", body: { active: false } });
    assert.equal((await server.send("notes", [{ title: "x" }], { key: cid.key })).status, 401);
  });
});
