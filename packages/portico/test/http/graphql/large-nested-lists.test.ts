// Nested lists that exceed the maximum size of a response are read only up to that size, so memory stays bounded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { rssMib } from "../../support/linux-process.ts";
import { serveProcess } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const longPosts = 100;
const bodyLength = 99_000;
const maxGrowthMib = 200;
const atOnce = 2;

onEachDatabase("large nested lists", (database) => {
  const server = serveProcess(database, {
    // PostgreSQL may exceed the default time limit for reads on a busy machine.
    env: { PORTICO_SLOW_READ_SECONDS: "60" },
    prepare: async (suite) => {
      const [{ id: authorId }] = (await suite.request("/users?sort=createdAt")).body.data;
      for (let count = 0; count < longPosts; count += 1)
        await suite.create("/posts", { title: `Long ${count}`, body: "x".repeat(bodyLength), authorId });
    },
  });
  const send = (query: string): Promise<Answer> => server.request("/graphql", { body: { query } });
  const code = ({ body }: Answer): string => body.errors[0].extensions.code;

  test("small rows with large nested lists are rejected and need little memory", async (context) => {
    const { pid } = server.portico;
    const queries = [
      "{ posts(limit: 100) { author { posts(first: 24) { body } } } }",
      "{ postsConnection(first: 100) { edges { node { author { posts(first: 24) { body } } } } } }",
      "{ postsConnection(first: 100, sort: TITLE_ASC) { edges { node { author { posts(first: 24) { body } } } } } }",
    ];
    // The first request loads code and opens connections.
    assert.equal((await send("{ posts(limit: 1) { author { posts(first: 24) { body } } } }")).status, 200);
    for (const query of queries) {
      const before = rssMib(pid);
      let peak = before;
      let isOver = false;
      const all = Promise.all(Array.from({ length: atOnce }, () => send(query))).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        peak = Math.max(peak, rssMib(pid));
        await sleep(20);
      }
      for (const response of await all) {
        assert.equal(code(response), "validation_error", response.text);
        assert.match(response.body.errors[0].message, /16 MiB/);
      }
      const measurement = `${query}: ${Math.round(peak - before)} MiB more than ${Math.round(before)}`;
      context.diagnostic(measurement);
      assert.ok(peak < before + maxGrowthMib, measurement);
    }
  });

  test("a smaller number of rows is returned, until the response is too large", async () => {
    const parts = await send("{ posts(limit: 6) { author { posts(first: 24) { body } } } }");
    assert.equal(parts.body.data.posts.length, 6);
    assert.equal(parts.body.data.posts[5].author.posts.length, 24);
    assert.equal(
      code(await send("{ posts(limit: 8) { author { posts(first: 24) { body } } } }")),
      "validation_error",
    );
  });

  test("a single row with nested lists that are too large is rejected", async () => {
    const { id } = (await server.request("/posts?limit=1")).body.data[0];
    const inner = "{ author { posts(first: 20) { author { posts(first: 12) { body } } } } }";
    const refused = await send(`{ post(id: "${id}") ${inner} }`);
    assert.equal(code(refused), "validation_error", refused.text.slice(0, 300));
    assert.match(refused.body.errors[0].message, /16 MiB/);
  });
});
