// Requests that wait for locks of PostgreSQL do not delay others: reads during a change of their table, and writes of one
// tenant.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { expectAnswer, serveProcess } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

onEachDatabase("blocked reads", (database) => {
  if (database !== "postgres") return;
  const server = serveProcess(database);

  test("other requests are answered, and the blocked ones end with 503", async () => {
    const { id } = await server.create("/posts", { title: "Locked" });
    const sql = postgres(server.workspace.databaseUrl, { max: 1, onnotice: () => {} });
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const locking = sql.begin(async (transaction) => {
      await transaction.unsafe("lock table posts in access exclusive mode");
      locked.resolve();
      await release.promise;
    });
    try {
      await locked.promise;
      const blocked = server.request(`/posts/${id}`);
      // Longer than the time after which a connection without a response counts as blocked.
      await sleep(300);
      const others = ["/users", "/readyz", "/projects", "/users", "/healthz"];
      for (const answer of await Promise.all(others.map((path) => server.request(path))))
        assert.equal(answer.status, 200);
      assert.equal(await Promise.race([blocked.then(() => "answered"), "waiting"]), "waiting");
      const answer = await blocked;
      expectAnswer(answer, { status: 503, code: "unavailable" });
      assert.ok(answer.headers.get("retry-after"));
    } finally {
      release.resolve();
      await locking;
      await sql.end();
    }
    assert.equal((await server.request(`/posts/${id}`)).status, 200);
  });
});

onEachDatabase("writes that wait for each other", (database) => {
  if (database !== "postgres") return;
  const server = serveProcess(database);

  test("writes of one tenant do not delay those of another", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Other");
    const key = await server
      .command("key", "create", "--name", "K", "--scopes", "*", "--tenant", tenant.id)
      .then((made) => made.key);
    const other = { name: "Other", email: "other@example.com" };
    const { id: otherId } = await server.create("/users", other, { key });
    const own = await server.create("/posts", { title: "Free", authorId: otherId }, { key });
    const author = { name: "Author", email: "author@example.com" };
    const { id: authorId } = await server.create("/users", author);
    const { id } = await server.create("/posts", { title: "Locked", authorId });
    const sql = postgres(server.workspace.databaseUrl, { max: 1, onnotice: () => {} });
    const held: Promise<unknown>[] = [];
    try {
      await sql.begin(async (transaction) => {
        await transaction`select 1 from posts where id = ${id} for update`;
        await transaction`select 1 from users where id = ${authorId} for update`;
        for (let number = 0; number < 24; number += 1) {
          held.push(server.request(`/posts/${id}`, { method: "PATCH", body: { title: `${number}` } }));
          held.push(server.request("/posts", { body: { title: "Waits", authorId } }));
        }
        await sleep(500);
        for (let number = 0; number < 5; number += 1) {
          const update = { method: "PATCH", key, body: { title: `${number}` } };
          expectAnswer(await server.request(`/posts/${own.id}`, update), { status: 200 });
          expectAnswer(await server.request("/posts", { key, body: { title: "Free", authorId: otherId } }), {
            status: 201,
          });
        }
        const first = await Promise.race([...held, "waiting"]);
        assert.equal(first, "waiting");
      });
      for (const answer of (await Promise.all(held)) as Answer[])
        assert.ok(answer.status === 200 || answer.status === 201, answer.text);
    } finally {
      await sql.end();
    }
  });
});
