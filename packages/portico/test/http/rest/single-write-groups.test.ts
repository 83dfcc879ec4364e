// On SQLite, creates without hooks share a transaction without savepoints. A create that is refused does not affect the
// others; one that a fault of the database stops halfway leaves nothing behind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import { serve } from "../../support/scenario.ts";

describe("creates that are committed together (SQLite)", () => {
  const server = serve("sqlite");

  test("refused creates leave nothing behind, and the others of their group succeed", async () => {
    const bodies = Array.from({ length: 60 }, (_, number) => ({
      title: `Together ${number}`,
      ...(number % 3 === 0 && { authorId: "user_01k00000000000000000000000" }),
    }));
    const answers = await Promise.all(bodies.map((body) => server.request("/posts", { body })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      bodies.map(({ authorId }) => (authorId ? 422 : 201)),
    );
    const reader = openReader(server.workspace.databaseUrl);
    const rows = await reader.rows(
      "select count(*), count(events.id) from posts left join events on events.row_id = posts.id where title like 'Together %'",
    );
    assert.deepEqual(rows, [[40, 40]]);
    assert.deepEqual(await reader.faults(), []);
    await reader.close();
  });

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
