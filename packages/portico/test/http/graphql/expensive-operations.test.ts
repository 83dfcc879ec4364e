// Operations that use the limits to the full: they delay other requests only briefly, and memory stays bounded.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expensiveDocuments } from "../../graphql/expensive-documents.ts";
import { rssMib } from "../../support/linux-process.ts";
import { runCommand, serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** The main thread is blocked for 100 ms at most. The rest allows for other work on the machine. */
const maxWaitMs = 1_500;
const maxGrowthMib = 256;

onEachDatabase("the most expensive GraphQL operations", (database) => {
  const server = serveProcess(database, { env: { PORTICO_REQUEST_LOG_DAYS: "0" } });
  const rows = { postId: "", userId: "" };
  /** Has the scope to read posts, but not users. */
  let key: string;
  before(async () => {
    const [me] = (await server.request("/users?sort=createdAt")).body.data;
    rows.userId = me.id;
    for (let count = 0; count < 60; count += 1) {
      const post = { title: `A word ${count}`, body: "lorem ipsum ".repeat(700), authorId: me.id };
      rows.postId = (await server.create("/posts", post)).id;
    }
    const words = ["key", "create", "--name", "Some", "--scopes", "posts:read", "--rate-limit", "1000000"];
    ({ key } = await runCommand(server.workspace, [...words, "--rate-window", "60"]));
  });

  test("other requests are answered while they run, and memory stays bounded", async (context) => {
    const { pid } = server.portico;
    const before = rssMib(pid);
    for (const [name, document] of Object.entries(expensiveDocuments(rows))) {
      const isForbidden = name.startsWith("a missing scope");
      const options = { body: document, ...(isForbidden && { key }) };
      const { waitedMs, answer } = await besideOthers(() => server.request("/graphql", options));
      const growth = rssMib(pid) - before;
      const measurement = `${name}: others waited ${waitedMs} ms, ${growth} MiB more, ${answer.text.length} characters`;
      context.diagnostic(measurement);
      assert.ok([200, 400].includes(answer.status), `${measurement} ${answer.text.slice(0, 500)}`);
      assert.ok(waitedMs < maxWaitMs, measurement);
      assert.ok(growth < maxGrowthMib, measurement);
    }
    const errors = server.portico.output.split("\n").filter((line) => /^\{"level":[56]0/.test(line));
    assert.deepEqual(errors, []);
  });

  /** Runs `work` while a post is fetched by its id repeatedly. */
  async function besideOthers<T>(work: () => Promise<T>): Promise<{ waitedMs: number; answer: T }> {
    let isDone = false;
    const working = work().finally(() => {
      isDone = true;
    });
    let waitedMs = 0;
    while (!isDone) {
      const began = performance.now();
      assert.equal((await server.request(`/posts/${rows.postId}?fields=id`)).status, 200);
      waitedMs = Math.max(waitedMs, Math.round(performance.now() - began));
      await sleep(10);
    }
    return { waitedMs, answer: await working };
  }
});
