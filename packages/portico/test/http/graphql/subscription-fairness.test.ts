// Subscriptions of one tenant that read many rows do not delay those of others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createdPosts, titlesOf } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeTenant, serveProcess, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const heavySubscriptions = 100;
const heavyPosts = 100;
const events = 15;
const lightEvents = 5;
/** Allows for other work on the machine. The reads of the other tenant take longer in all. */
const inTimeMs = 8_000;

onEachDatabase("subscriptions of several tenants", (database) => {
  let busy: Tenant;
  const server = serveProcess(database, {
    prepare: async (at) => {
      busy = await makeTenant(at.workspace);
      const body = "x".repeat(2_000);
      for (let title = 0; title < heavyPosts; title += 1)
        await at.create("/posts", { title: String(title), body }, busy);
    },
  });

  test("subscriptions that read many rows do not delay those of other tenants", {
    timeout: 90_000,
  }, async () => {
    const light = await TestSocket.ready(server.portico);
    light.subscribe("light", createdPosts);
    const heavy = await TestSocket.ready(server.portico, busy.key);
    for (let number = 0; number < heavySubscriptions; number += 1)
      heavy.subscribe(
        `h${number}`,
        `subscription { postCreated { title a${number}: author { posts(first: 100) { body author { posts(first: 5) { id } } } } } }`,
      );
    await sleep(1_000);
    const titles = Array.from({ length: events }, (_, number) => String(number));
    for (const title of titles) await server.create("/posts", { title }, busy);
    const latencies: number[] = [];
    for (let count = 1; count <= lightEvents; count += 1) {
      await sleep(200);
      const began = performance.now();
      await server.create("/posts", { title: "light" });
      await light.results("light", count);
      latencies.push(Math.round(performance.now() - began));
    }
    assert.ok(Math.max(...latencies) < inTimeMs, `received after ${latencies} ms`);
    // They receive every event once and in order, however far they are behind.
    await heavy.results("h7", events);
    await heavy.results("h7", events);
    assert.deepEqual(titlesOf(await heavy.results("h7", events)), titles);
    await light.close();
    heavy.socket.terminate();
  });
});
