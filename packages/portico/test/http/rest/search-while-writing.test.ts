// Rows that are written at the same time, and in one transaction, are found by their words, and no others are. Rows that a
// group inserts are indexed together (`store/search/deferral.ts`).

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app } from "../../../src/declare/app.ts";
import { text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { countDirectly, writeDirectly } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const words = ["loom", "engine", "wheel", "ink"];

const notes = resource("note", {
  fields: { title: text({ max: 100 }), code: text({ max: 20, optional: true, unique: true }) },
  search: ["title"],
  softDelete: true,
});

const orders = resource("order", { fields: { title: text({ max: 100 }) }, search: ["title"] });

type Write =
  | { readonly kind: "create"; readonly title: string; readonly code?: string }
  | { readonly kind: "import"; readonly titles: readonly string[]; readonly code?: string }
  | { readonly kind: "operation"; readonly titles: readonly string[]; readonly row: number }
  | { readonly kind: "update"; readonly row: number; readonly title: string; readonly code?: string }
  | { readonly kind: "delete" | "restore"; readonly row: number };

const title = fc.subarray(words, { minLength: 1, maxLength: 3 }).map((some) => some.join(" "));
const titles = fc.array(title, { minLength: 1, maxLength: 6 });
const code = fc.option(fc.constantFrom("a", "b"), { nil: undefined });
const row = fc.nat(30);
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("create" as const), title, code }) },
  fc.record({ kind: fc.constant("import" as const), titles, code }),
  fc.record({ kind: fc.constant("operation" as const), titles, row }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("update" as const), row, title, code }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("delete" as const, "restore" as const), row }) },
);

onEachDatabase("rows that are written at the same time", (database) => {
  const server = serve(database, {
    app: app({ name: "Notes", resources: [notes, orders] }),
    env: { PORTICO_KEY_QUOTA: "1000000/60" },
  });
  const importNotes = async (lines: readonly object[]): Promise<number> => {
    const response = await fetch(`${server.url}/v1/imports/notes`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.portico.key}`, "content-type": "application/x-ndjson" },
      body: lines.map((line) => JSON.stringify(line)).join("\n"),
    });
    await response.text();
    return response.status;
  };

  /** @returns the status */
  const perform = async (one: Write, ids: readonly string[]): Promise<number> => {
    const id = "row" in one ? (ids[one.row % Math.max(ids.length, 1)] ?? "note_none") : "";
    if (one.kind === "create") {
      const body = { title: one.title, code: one.code };
      return (await server.request("/notes", { method: "POST", body })).status;
    }
    if (one.kind === "import")
      return importNotes(
        one.titles.map((each, index) => ({ title: each, ...(index === 1 && { code: one.code }) })),
      );
    if (one.kind === "operation") {
      const creates = one.titles.map(
        (each, index) => `m${index}: createNote(input: { title: "${each}" }) { id }`,
      );
      const update = `u: updateNote(id: "${id}", input: { title: "ink" }) { id }`;
      const query = `mutation { ${[...creates, update].join(" ")} }`;
      return (await server.request("/graphql", { method: "POST", body: { query } })).status;
    }
    const path = one.kind === "restore" ? `/notes/${id}/restorations` : `/notes/${id}`;
    const method = { update: "PATCH", delete: "DELETE", restore: "POST" }[one.kind];
    const body = one.kind === "update" ? { title: one.title, code: one.code } : undefined;
    return (await server.request(path, { method, body })).status;
  };

  const notesOf = async (query: string): Promise<{ id: string; title: string }[]> => {
    const all: { id: string; title: string }[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const { body } = await server.request(`/notes?limit=100&${query}${after && `&cursor=${after}`}`);
      all.push(...body.data);
      after = body.pagination.hasMore ? body.pagination.nextCursor : null;
    }
    return all;
  };

  test("are found by their words, and no other rows are", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
        const ids = (await notesOf("")).map(({ id }) => id);
        const statuses = await Promise.all(writes.map((one) => perform(one, ids)));
        assert.ok(
          statuses.every((status) => status < 500),
          statuses.join(),
        );
        const all = await notesOf("");
        for (const word of words)
          assert.deepEqual(
            (await notesOf(`q=${word}`)).map(({ id }) => id).sort(),
            all
              .filter((note) => note.title.split(" ").includes(word))
              .map(({ id }) => id)
              .sort(),
          );
      }),
      { numRuns: randomRuns(150, 40) },
    );
    if (database === "postgres") return;
    const { databaseUrl } = server.workspace;
    const unindexed = "select count(*) from notes where row_no not in (select id from notes_search_docsize)";
    assert.equal(await countDirectly(databaseUrl, unindexed), 0);
    assert.equal(await countDirectly(databaseUrl, "select count(*) from portico_search_deferral"), 0);
  });

  if (database === "sqlite")
    test("are found if a trigger that was added by hand inserts them", async () => {
      const { databaseUrl } = server.workspace;
      await writeDirectly(
        databaseUrl,
        `create trigger by_hand after insert on orders begin
           insert into notes (tenant_no, id, title, created_at, search_words)
           values (new.tenant_no, 'note_' || new.id, 'paper', new.created_at, ' paper'); end`,
      );
      const create = (_: unknown, index: number) => server.create("/orders", { title: `order ${index}` });
      await Promise.all(Array.from({ length: 20 }, create));
      assert.equal((await notesOf("q=paper")).length, 20);
      assert.equal((await server.request("/orders?q=order&limit=100")).body.data.length, 20);
    });
});
