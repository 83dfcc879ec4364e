// What remains of connections that have been closed: nothing.

import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import { Connection } from "../../../src/http/connections.ts";
import { TestServer } from "../../support/scenario.ts";
import { makeWorkspace, Portico } from "../../support/server.ts";

const rounds = 6;
const connectionsAtOnce = 50;

test("closed connections are not kept in memory", async (context) => {
  const server = new TestServer();
  // Connections cost the same on every database, so one is enough.
  server.workspace = await makeWorkspace("sqlite");
  context.after(() => server.workspace.remove());
  server.portico = await Portico.start(server.workspace);
  context.after(() => server.portico.stop());

  for (let round = 0; round < rounds; round += 1)
    await Promise.all(Array.from({ length: connectionsAtOnce }, () => connectOnce(server.url)));
  // It collects garbage before it counts.
  const kept = queryObjects(Connection, { format: "count" });
  assert.ok(kept < connectionsAtOnce, `${kept} closed connections are still in memory`);
});

async function connectOnce(url: string): Promise<void> {
  const [response] = await once(request(`${url}/healthz`, { agent: false }).end(), "response");
  response.resume();
  await once(response, "close");
}
