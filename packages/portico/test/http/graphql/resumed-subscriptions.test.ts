// Many subscriptions that resume at once read missed events only as fast as the client receives them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { titlesOf } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { rssMib } from "../../support/linux-process.ts";
import { serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const missed = 100;
/** Posts of a new sandbox. */
const seeded = 3;
const subscriptions = 90;
const slackMib = 250;
const extensions = { lastEventId: "0" };
const queries = {
  "recorded rows": "subscription { postCreated { title body } }",
  "related rows": "subscription { postCreated { title body author { name } } }",
};

onEachDatabase("resumed subscriptions", (database) => {
  const server = serveProcess(database, {
    prepare: async (prepared) => {
      const body = "x".repeat(99_000);
      for (let title = 0; title < missed; title += 1)
        await prepared.create("/posts", { title: String(title), body });
    },
  });

  for (const [what, query] of Object.entries(queries)) {
    test(`missed events are received in order, with ${what}`, async () => {
      const socket = await TestSocket.ready(server.portico);
      socket.subscribe("1", query, { extensions });
      assert.deepEqual(
        titlesOf(await socket.results("1", seeded + missed)).slice(seeded),
        Array.from({ length: missed }, (_, title) => String(title)),
      );
      await socket.close();
    });

    test(`a client that does not read needs little memory, with ${what}`, async () => {
      const socket = await TestSocket.ready(server.portico);
      const before = rssMib(server.portico.pid);
      socket.socket.pause();
      for (let number = 0; number < subscriptions; number += 1)
        socket.subscribe(String(number), query, { extensions });
      let peak = before;
      for (const until = Date.now() + 3_000; Date.now() < until; await sleep(20))
        peak = Math.max(peak, rssMib(server.portico.pid));
      assert.ok(peak < before + slackMib, `${before} MiB before, ${peak} MiB at the peak`);
      socket.socket.terminate();
    });
  }
});
