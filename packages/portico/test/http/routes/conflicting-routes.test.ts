// Routes that lock the same rows in opposite order, many at once: on PostgreSQL each deadlock ends one of them, which runs
// again in turn, until all have succeeded.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { app, id, integer, resource, route } from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const boxes = resource("box", { fields: { count: integer({ default: 0 }) } });

const declared = app({
  name: "Boxes",
  resources: [boxes],
  routes: [
    route(
      "POST /v1/moves",
      { scope: null, input: { from: id(), to: id() } },
      async ({ rows, input: { from, to } }) => {
        for (const [box, change] of [
          [from, -1],
          [to, 1],
        ] as const) {
          const { count } = (await rows.get(boxes, box))!;
          await rows.update(boxes, box, { count: count + change });
          await sleep(10);
        }
      },
    ),
  ],
});

onEachDatabase("routes that lock rows in opposite order", (database) => {
  test("all succeed", async () => {
    const workspace = await makeWorkspace(database);
    // How long PostgreSQL waits before it looks for a deadlock: 1 s by default.
    if (database === "postgres") {
      const sql = postgres(workspace.databaseUrl, { max: 1 });
      await sql.unsafe(`alter database ${sql.options.database} set deadlock_timeout = '50ms'`);
      await sql.end();
    }
    const server = await Portico.startApp(workspace, declared);
    try {
      const create = async (): Promise<string> => (await server.request("/v1/boxes", { body: {} })).body.id;
      const [first, second] = [await create(), await create()];
      const move = (from: string, to: string) => server.request("/v1/moves", { body: { from, to } });
      const sent = Array.from({ length: 16 }, (_, index) =>
        index % 2 ? move(first, second) : move(second, first),
      );
      const statuses = new Set((await Promise.all(sent)).map(({ status }) => status));
      deepEqual([...statuses], [204]);
      const { data } = (await server.request("/v1/boxes")).body;
      deepEqual(
        data.map(({ count }: { count: number }) => count),
        [0, 0],
      );
    } finally {
      await server.stop();
      await workspace.remove();
    }
  });
});
