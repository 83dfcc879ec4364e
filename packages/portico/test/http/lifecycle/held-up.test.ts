// Reads of PostgreSQL that wait for a lock, as during a change of their table, do not delay other requests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { expectAnswer, serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

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
