// What subscriptions are sent, and what is read for them, counts against the quota of their credential.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { titlesOf } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** 1.2 MB of events. */
const missed = 60;
const bodyBytes = 20_000;
const tokens = 12;
/** Posts of a new sandbox. */
const seeded = 3;
const extensions = { lastEventId: "0" };
const own = "subscription { postCreated { title body } }";

onEachDatabase("quotas of subscriptions", (database) => {
  const titles = Array.from({ length: missed }, (_, title) => String(title));
  const server = serve(database, {
    prepare: async (at) => {
      const body = "x".repeat(bodyBytes);
      for (const title of titles) await at.create("/posts", { title, body });
    },
  });

  async function withKey(quota: string, work: (socket: TestSocket, key: string) => Promise<void>) {
    const scopes = ["--scopes", "posts:read,users:read"];
    const { key } = await server.command("key", "create", "--name", "x", ...scopes, "--rate-limit", quota);
    const socket = await TestSocket.ready(server.portico, key);
    try {
      await work(socket, key);
    } finally {
      await socket.close();
    }
  }
  const used = async (key: string, limit: number): Promise<number> => {
    const { headers } = await server.request("/posts?limit=1&fields=id", { key });
    const [, left] = /r=(\d+)/.exec(headers.get("ratelimit")!)!;
    return limit - Number(left);
  };

  test("the messages of a resumed subscription are charged", () =>
    withKey("1000/86400", async (socket, key) => {
      socket.subscribe("1", own, { extensions });
      assert.deepEqual(titlesOf(await socket.results("1", seeded + missed)).slice(seeded), titles);
      const count = await used(key, 1_000);
      assert.ok(count >= tokens && count < 2 * tokens, `${count} tokens`);
    }));

  test("events that a filter excludes are charged as well", () =>
    withKey("1000/86400", async (socket, key) => {
      const query = "subscription { postCreated(filter: { status: archived }) { title body } }";
      socket.subscribe("1", query, { extensions });
      await sleep(3_000);
      const count = await used(key, 1_000);
      assert.deepEqual(socket.messages.slice(1), []);
      assert.ok(count >= tokens, `${count} tokens`);
    }));

  test("related rows of an event are charged", () =>
    withKey("1000/86400", async (socket, key) => {
      socket.subscribe("1", "subscription { postCreated { title author { posts(first: 100) { id } } } }");
      await sleep(500);
      const before = await used(key, 1_000);
      for (let number = 0; number < 10; number += 1) await server.create("/posts", { title: "read" });
      assert.equal((await socket.results("1", 10)).length, 10);
      const count = (await used(key, 1_000)) - before;
      assert.ok(count >= 10, `${count} tokens`);
    }));

  test("events wait while no tokens are left, and arrive in order", () =>
    withKey("4/2", async (socket) => {
      const began = performance.now();
      socket.subscribe("1", own, { extensions });
      await sleep(500);
      assert.ok((await socket.results("1", 1)).length < missed);
      assert.deepEqual(
        titlesOf(await socket.results("1", seeded + missed)).slice(seeded, seeded + missed),
        titles,
      );
      assert.ok(performance.now() - began > 2_000);
      assert.deepEqual(
        socket.messages.filter(({ type }) => type !== "next").map(({ type }) => type),
        ["connection_ack"],
      );
    }));
});
