// Callers who do not read, do not write, or leave halfway, on each kind of endpoint: the memory of the server stays
// bounded, everything they opened is closed, and others are served throughout.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { countConnections, countHandles, rssMib } from "../../support/linux-process.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { runCommand, serveProcess, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import type { SoakTarget } from "./soak-callers.ts";

/** For each database, in seconds. */
const seconds = randomRuns(8, 6, "PORTICO_SOAK_SECONDS");
const windowMs = 2_500;
const callers = 150;
const bufferMib = 64;
/**
 * Memory that a busy server may use in addition to the buffers of its callers, in MiB: garbage, and rows in progress.
 */
const slackMib = 220;
/** Connections to PostgreSQL that the first requests open. */
const poolSize = 16;
/** The product's promise to a well-behaved caller. On a busy machine, this many times the duration without load. */
const promisedMs = 100;
const busyFactor = 8;

onEachDatabase("a server with misbehaving callers", (database) => {
  const server = serveProcess(database, {
    env: { PORTICO_BUFFER_MIB: String(bufferMib) },
    prepare: async (suite) => {
      for (let count = 0; count < 100; count += 1)
        await suite.create("/posts", { title: `Long ${count}`, body: "x".repeat(40_000) });
    },
  });

  test("memory and connections stay bounded, and others are served in time", async () => {
    const scopes = "posts:read,posts:write,users:read";
    const words = ["key", "create", "--name", "Theirs", "--scopes", scopes, "--rate-limit", "1200"];
    const { key } = await runCommand(server.workspace, [...words, "--rate-window", "60"]);
    const files = await filesOf(server);
    await warmUp(server, files);
    const quiet = percentile(await measure(server), 0.95);
    const { pid } = server.portico;
    const before = {
      rss: rssMib(pid),
      handles: countHandles(pid),
      connections: countConnections(server.url),
    };

    const workerData: SoakTarget = { url: server.url, key, files, callers };
    const worker = new Worker(new URL("./soak-callers.ts", import.meta.url), { workerData });
    const ended = once(worker, "message") as Promise<[number]>;
    const windows: number[][] = [];
    let maxRss = 0;
    for (const end = Date.now() + seconds * 1_000; Date.now() < end; ) {
      windows.push(await measure(server));
      maxRss = Math.max(maxRss, rssMib(pid));
    }
    worker.postMessage("stop");
    const [count] = await ended;
    await worker.terminate();
    // The machine may have become busier in the meantime.
    const quietAfter = percentile(await measure(server), 0.95);

    const percentiles = windows.map((each) => percentile(each, 0.95)).sort((one, other) => one - other);
    const p95 = percentiles[Math.floor(percentiles.length / 2)]!;
    const all = windows.flat();
    const summary = `${count} callers; waited ${quiet} ms before, ${quietAfter} ms after (95 %); ${before.rss} MiB before, ${maxRss} at most; waited ${percentile(all, 0.5)} ms (median), ${p95} ms (95 %, median of ${percentiles.length} windows), ${Math.max(...all)} ms at most`;
    console.log(summary);
    const faults = server.portico.output.split("\n").filter((line) => /^\{"level":[56]0/.test(line));
    assert.deepEqual(faults, []);
    assert.ok(count > callers, summary);
    assert.ok(maxRss < before.rss + bufferMib + slackMib, summary);
    assert.ok(percentile(all, 0.5) < promisedMs, summary);
    assert.ok(p95 < Math.max(promisedMs, busyFactor * Math.max(quiet, quietAfter)), summary);

    const areGone = (): boolean =>
      countConnections(server.url) <= before.connections + 2 &&
      countHandles(pid) <= before.handles + poolSize;
    for (const end = Date.now() + 15_000; Date.now() < end && !areGone(); ) await sleep(100);
    const after = { connections: countConnections(server.url), handles: countHandles(pid) };
    assert.ok(areGone(), `${JSON.stringify(after)}, ${JSON.stringify(before)} before`);
  });
});

/** The durations of consecutive requests of a well-behaved caller, in milliseconds. */
async function measure(server: TestServer): Promise<number[]> {
  const took: number[] = [];
  const timed = async (work: () => Promise<{ readonly status: number }>): Promise<void> => {
    const began = performance.now();
    const { status } = await work();
    took.push(Math.round(performance.now() - began));
    assert.ok(status < 300, `${status}`);
  };
  for (const end = Date.now() + windowMs; Date.now() < end; ) {
    await timed(() => server.request("/posts?limit=1&fields=title"));
    await timed(() => server.request("/graphql", { body: { query: "{ users(limit: 1) { name } }" } }));
    // These creates send events to subscribers who do not read.
    await timed(() => server.request("/posts", { body: { title: "Event", body: "x".repeat(10_000) } }));
    await timed(() => server.request("/healthz"));
    await sleep(50);
  }
  return took;
}

async function filesOf({ url }: TestServer): Promise<string[]> {
  const answer = await fetch(`${url}/graphql`, { headers: { accept: "text/html" } });
  return [...new Set((await answer.text()).match(/\/graphql\/files\/graphiql[^"]+/g))];
}

/** Loads and compiles everything, and lets the heap grow to its working size. */
async function warmUp(server: TestServer, files: readonly string[]): Promise<void> {
  for (const coding of ["br", "gzip"])
    for (const file of files)
      await (await fetch(server.url + file, { headers: { "accept-encoding": coding } })).text();
  await (await fetch(`${server.url}/oauth/authorize`)).text();
  const query = "{ posts(limit: 100) { id title body author { name } } }";
  for (let count = 0; count < 20; count += 1) {
    await server.request("/posts?limit=100");
    await server.request("/graphql", { body: { query } });
  }
  await measure(server);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)]!;
}
