// Creates without hooks that arrive together share a transaction without savepoints on SQLite, and a statement on
// PostgreSQL. A create that is refused does not affect the others; one that a fault of the database stops halfway leaves
// nothing behind.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import { openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

onEachDatabase("creates that are committed together", (database) => {
  const server = serve(database);

  test("refused creates leave nothing behind, and the others of their group succeed", async () => {
    const bodies = Array.from({ length: 60 }, (_, number) => ({
      title: `Together ${number}`,
      ...(number % 3 === 0 && { authorId: "user_01k00000000000000000000000" }),
    }));
    const answers = await Promise.all(bodies.map((body) => server.request("/posts", { body })));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.title]),
      bodies.map(({ authorId, title }) => (authorId ? [422, undefined] : [201, title])),
    );
    const reader = openReader(server.workspace.databaseUrl);
    const [counts] = await reader.rows(
      "select count(*), count(distinct events.id) from posts left join events on events.row_id = posts.id where title like 'Together %'",
    );
    assert.deepEqual(counts!.map(Number), [40, 40]);
    assert.deepEqual(await reader.faults(), []);
    await reader.close();
  });
});

/** Bodies of tools, with values that have to be escaped in one language or another. */
const escaped = fc.string({
  unit: fc.constantFrom(..."a\"'\\{},:\n\u2028é😀".split(/(?:)/u)),
  maxLength: 20,
});
const named = escaped.map((text) => `n${text}`);
const body = fc.record(
  {
    name: named,
    weight: fc.option(fc.double({ min: 0, max: 1000, noNaN: true })),
    count: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    isSharp: fc.boolean(),
    boughtAt: fc.constantFrom(null, "2026-11-21T10:30:00.1239+01:00", "0001-02-03T04:05:06Z"),
    meta: fc.oneof(fc.jsonValue({ maxDepth: 3 }), escaped),
    notes: fc.option(fc.jsonValue({ maxDepth: 2 })),
    tags: fc.uniqueArray(named, { maxLength: 3 }),
    sizes: fc.option(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 })),
  },
  { requiredKeys: ["name"] },
);

onEachDatabase("values of rows that are created together", (database) => {
  const server = serve(database, { cwd: resolve(import.meta.dirname, "../../fixtures/workshop") });

  test("they are those of rows that are created alone", async () => {
    const bodies = fc.sample(body, randomRuns(200, 60));
    const create = (body: unknown) => server.request("/tools", { body });
    const valuesOf = ({ status, body }: Answer) => {
      const { id: _, createdAt, updatedAt, seenAt, ...values } = body;
      return { status, ...(status === 201 ? values : body.error.details) };
    };
    const together = await Promise.all(bodies.map(create));
    const isCreated = together.filter(({ status }) => status === 201);
    assert.ok(isCreated.length > bodies.length / 2);
    for (const [index, body] of bodies.entries())
      assert.deepEqual(valuesOf(together[index]!), valuesOf(await create(body)), JSON.stringify(body));
    const stored = await Promise.all(isCreated.map(({ body }) => server.request(`/tools/${body.id}`)));
    assert.deepEqual(
      stored.map(({ body }) => body),
      isCreated.map(({ body }) => body),
    );
  });
});

describe("a create that a fault stops halfway (SQLite)", () => {
  const server = serve("sqlite");

  test("when the event of a row cannot be written, neither is the row, and nothing else is lost", async () => {
    const reader = openReader(server.workspace.databaseUrl);
    await reader.write(`create trigger fault before insert on events when new.kind = 'project.created'
      begin select raise(abort, 'a fault of the database'); end`);
    const posts = Array.from({ length: 40 }, (_, number) =>
      server.request("/posts", { body: { title: `Beside ${number}` } }),
    );
    const failed = server.request("/projects", { body: { name: "Halfway" } });
    const more = Array.from({ length: 40 }, (_, number) =>
      server.request("/posts", { body: { title: `Beyond ${number}` } }),
    );
    const [{ status }, ...answers] = await Promise.all([failed, ...posts, ...more]);
    assert.equal(status, 500);
    await reader.write("drop trigger fault");
    const created = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    assert.ok(answers.every(({ status }) => status === 201 || status === 500));
    const stored = await reader.rows(
      "select posts.id from posts join events on events.row_id = posts.id where title like 'Be%' order by posts.id",
    );
    assert.deepEqual(stored.flat(), created.sort());
    assert.deepEqual(await reader.rows("select id from projects where name = 'Halfway'"), []);
    assert.deepEqual(await reader.faults(), []);
    await server.create("/projects", { name: "Halfway" });
    await reader.close();
  });
});
