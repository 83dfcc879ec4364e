// Nested lists that could hold far more than an answer may: no more of them is read than an answer may have, so that
// memory stays bounded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { serveProcess } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const longPosts = 100;
const bodyLength = 99_000;
const mostGrowthMib = 200;
const atOnce = 3;

onEachDatabase("large nested lists", (database) => {
  const served = serveProcess(database, {
    // On a busy machine, PostgreSQL may take longer for them than requests may take otherwise.
    env: { PORTICO_SLOW_READ_SECONDS: "60" },
    prepare: async (suite) => {
      const [{ id: authorId }] = (await suite.request("/users?sort=createdAt")).body.data;
      for (let count = 0; count < longPosts; count += 1)
        await suite.create("/posts", { title: `Long ${count}`, body: "x".repeat(bodyLength), authorId });
    },
  });
  const ask = (query: string): Promise<Answer> => served.request("/graphql", { body: { query } });
  const code = ({ body }: Answer): string => body.errors[0].extensions.code;

  test("rows that are small, with large lists inside, are refused and take little memory", async (context) => {
    const { pid } = served.portico;
    const tooMuch = [
      "{ posts(limit: 100) { author { posts(first: 24) { body } } } }",
      "{ posts(limit: 100, sort: title) { author { posts(first: 24) { body } } } }",
      "{ postsConnection(first: 100) { nodes { author { posts(first: 24) { body } } } } }",
    ];
    // Code and connections that the first request needs are no part of it.
    assert.equal((await ask("{ posts(limit: 1) { author { posts(first: 24) { body } } } }")).status, 200);
    const before = rssMib(pid);
    let most = before;
    for (const query of tooMuch) {
      let isOver = false;
      const all = Promise.all(Array.from({ length: atOnce }, () => ask(query))).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        most = Math.max(most, rssMib(pid));
        await sleep(20);
      }
      for (const answer of await all) assert.equal(code(answer), "validation_error", answer.text);
    }
    const told = `${Math.round(most - before)} MiB more than ${Math.round(before)}`;
    context.diagnostic(told);
    assert.ok(most < before + mostGrowthMib, told);
  });

  test("a page of them by cursor is answered as far as it fits where it is asked for in parts", async () => {
    const parts = await ask("{ posts(limit: 6) { author { posts(first: 24) { body } } } }");
    assert.equal(parts.body.data.posts.length, 6);
    assert.equal(parts.body.data.posts[5].author.posts.length, 24);
    assert.equal(
      code(await ask("{ posts(limit: 8) { author { posts(first: 24) { body } } } }")),
      "validation_error",
    );
  });

  test("a single row with more inside than an answer may have is refused", async () => {
    const { id } = (await served.request("/posts?limit=1")).body.data[0];
    const inner = "{ author { posts(first: 20) { author { posts(first: 12) { body } } } } }";
    const refused = await ask(`{ post(id: "${id}") ${inner} }`);
    assert.equal(code(refused), "validation_error", refused.text.slice(0, 300));
    assert.match(refused.body.errors[0].message, /16 MiB/);
  });
});

/** Resident memory of a process, on Linux. */
function rssMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}
