// Webhooks while servers are killed, and with several servers on one database.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { runCommand } from "../support/scenario.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../support/server.ts";
import { type Received, WebhookReceiver } from "../support/webhook-receiver.ts";

const kills = process.env.CI ? 4 : 2;
const env = { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1,1,1,1,1,1,1,1" };

onEachDatabase("webhooks and crashes", (database) => {
  let workspace: Workspace;
  let receiver: WebhookReceiver;
  before(async () => {
    workspace = await makeWorkspace(database);
    receiver = await WebhookReceiver.start();
  });
  after(async () => {
    await receiver.stop();
    await workspace.remove();
  });

  test(`after ${kills} kills every acknowledged write has been delivered, with one id each time`, async () => {
    let server = await PorticoProcess.start(workspace, { env });
    const { key } = server;
    for (const path of ["/sound", "/flaky", "/hanging"]) {
      const body = { url: receiver.url + path, eventTypes: ["post.*"] };
      assert.equal((await server.request("/v1/webhook-endpoints", { body })).status, 201);
    }
    let isHanging = true;
    receiver.respond = (response, { path }) => {
      if (path === "/hanging" && isHanging) return;
      const isFailure = path === "/flaky" && receiver.received.length % 2 === 0;
      response.writeHead(isFailure ? 500 : 204).end();
    };
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < kills; round += 1) {
      const until = receiver.at("/sound").length + 5;
      const writing = new AbortController();
      const writers = Array.from({ length: 4 }, async () => {
        while (!writing.signal.aborted) {
          const made = await server.request("/posts", { body: { title: "Written" } }).catch(() => undefined);
          if (made?.status !== 201) return;
          acknowledged.set(made.body.id, "created");
          const { id } = made.body;
          const changes = { method: "PATCH", body: { title: "Changed" } };
          const changed = await server.request(`/posts/${id}`, changes).catch(() => undefined);
          if (changed?.status === 200) acknowledged.set(id, "updated");
        }
      });
      try {
        await receiver.waitUntil((all) => all.filter(({ path }) => path === "/sound").length >= until);
      } finally {
        await server.kill();
        writing.abort();
        await Promise.all(writers);
      }
      server = await PorticoProcess.start(workspace, { env, key });
    }
    isHanging = false;
    for (const path of ["/sound", "/flaky", "/hanging"])
      for (const [id, last] of acknowledged)
        await receiver.waitUntil((all) =>
          all.some(
            (each) => each.path === path && each.body.data.id === id && each.body.type === `post.${last}`,
          ),
        );
    for (const ofEvent of Map.groupBy(receiver.received, eventKey).values())
      assert.equal(new Set(ofEvent.map(({ body }) => body.id)).size, 1);
    // A row is never seen to go back: its creation is not delivered after its update was accepted.
    for (const id of acknowledged.keys()) {
      const types = receiver.at("/sound").filter(({ body }) => body.data.id === id);
      const update = types.findIndex(({ body }) => body.type === "post.updated");
      const creation = types.findLastIndex(({ body }) => body.type === "post.created");
      assert.ok(update === -1 || creation < update, id);
    }
    await server.stop();
  });

  // A SQLite database has one server.
  if (database === "sqlite") return;

  test("two servers deliver each event once", async () => {
    const words = ["key", "create", "--name", "Both", "--scopes", "*"];
    const { key } = await runCommand(workspace, words);
    const servers = await Promise.all([1, 2].map(() => PorticoProcess.start(workspace, { env, key })));
    receiver.respond = (response) => void response.writeHead(204).end();
    const body = { url: `${receiver.url}/both`, eventTypes: ["post.created"] };
    assert.equal((await servers[0]!.request("/v1/webhook-endpoints", { body })).status, 201);
    const count = 200;
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        servers[n % 2]!.request("/posts", { body: { title: `Post ${n}` } }),
      ),
    );
    await receiver.waitFor("/both", count);
    await Promise.all(servers.map((each) => each.stop()));
    const ids = receiver.at("/both").map((each) => each.body.id);
    assert.equal(ids.length, count);
    assert.equal(new Set(ids).size, count);
  });
});

function eventKey({ body }: Received): string {
  return `${body.data.id} ${body.type}`;
}
