// Operations that ask for as much as the bounds allow: others are answered while they run, and memory stays bounded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { worstDocuments } from "../../graphql/worst-documents.ts";
import { runCommand, serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** The main thread works 100 ms at a time at most; the rest is for machines that do other things beside. */
const mostWaitMs = 1_500;
const mostGrowthMib = 256;

onEachDatabase("the worst that GraphQL may be asked", (database) => {
  const served = serveProcess(database, { env: { PORTICO_REQUEST_LOG_DAYS: "0" } });
  const rows = { postId: "", userId: "" };
  /** May read posts, and not who wrote them. */
  let key: string;
  before(async () => {
    const [me] = (await served.request("/users?sort=createdAt")).body.data;
    rows.userId = me.id;
    for (let count = 0; count < 60; count += 1) {
      const post = { title: `A word ${count}`, body: "lorem ipsum ".repeat(700), authorId: me.id };
      rows.postId = (await served.create("/posts", post)).id;
    }
    const words = ["key", "create", "--name", "Some", "--scopes", "posts:read", "--rate-limit", "1000000"];
    ({ key } = await runCommand(served.workspace, [...words, "--rate-window", "60"]));
  });

  test("others are answered while they run, and memory stays bounded", async (context) => {
    const { pid } = served.portico;
    const before = rssMib(pid);
    for (const [name, document] of Object.entries(worstDocuments(rows))) {
      const isForbidden = name.startsWith("a missing scope");
      const options = { body: document, ...(isForbidden && { key }) };
      const { waitedMs, answer } = await besideOthers(() => served.request("/graphql", options));
      const growth = rssMib(pid) - before;
      const told = `${name}: others waited ${waitedMs} ms, ${growth} MiB more, ${answer.text.length} characters`;
      context.diagnostic(told);
      assert.ok([200, 400].includes(answer.status), `${told} ${answer.text.slice(0, 500)}`);
      assert.ok(waitedMs < mostWaitMs, told);
      assert.ok(growth < mostGrowthMib, told);
    }
    const faults = served.portico.output.split("\n").filter((line) => /^\{"level":[56]0/.test(line));
    assert.deepEqual(faults, []);
  });

  /** Does something while a post is read by its id again and again. */
  async function besideOthers<T>(work: () => Promise<T>): Promise<{ waitedMs: number; answer: T }> {
    let isDone = false;
    const working = work().finally(() => {
      isDone = true;
    });
    let waitedMs = 0;
    while (!isDone) {
      const began = performance.now();
      assert.equal((await served.request(`/posts/${rows.postId}?fields=id`)).status, 200);
      waitedMs = Math.max(waitedMs, Math.round(performance.now() - began));
      await sleep(10);
    }
    return { waitedMs, answer: await working };
  }
});

function rssMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}
