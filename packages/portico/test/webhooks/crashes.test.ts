// Webhooks while servers are killed, and with several servers on one database.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { writeDirectly } from "../support/database-reader.ts";
import { runCommand } from "../support/scenario.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../support/server.ts";
import { type Received, WebhookReceiver } from "../support/webhook-receiver.ts";

const kills = { sqlite: 20, postgres: 5 };
const env = { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1,1,1,1,1,1,1,1" };
const paths = ["/sound", "/flaky", "/hanging"];

onEachDatabase("webhooks and crashes", (database) => {
  let workspace: Workspace;
  const receiver = new WebhookReceiver();
  before(async () => {
    workspace = await makeWorkspace(database);
    await receiver.start();
  });
  after(async () => {
    await receiver.stop();
    await workspace.remove();
  });

  test(`after ${kills[database]} kills every acknowledged write has been delivered, with one id each time`, async () => {
    let server = await PorticoProcess.start(workspace, { env });
    const { key } = server;
    for (const path of paths) {
      const body = { url: receiver.url + path, eventTypes: ["post.*"] };
      assert.equal((await server.request("/v1/webhook-endpoints", { body })).status, 201);
    }
    let isHanging = true;
    const accepted = new Set<string>();
    receiver.respond = (response, received) => {
      if (received.path === "/hanging" && isHanging) return;
      const isFailure = received.path === "/flaky" && timesReceived(receiver, received) % 2 === 1;
      if (!isFailure) accepted.add(`${received.path} ${writeOf(received)}`);
      response.writeHead(isFailure ? 500 : 204).end();
    };
    const acknowledged = new Set<string>();
    for (let round = 0; round < kills[database]; round += 1) {
      const killAt = receiver.at("/sound").length + 1 + ((round * 3) % 8);
      const writing = write(server, acknowledged);
      try {
        await receiver.waitUntil(() => receiver.at("/sound").length >= killAt);
      } finally {
        await server.kill();
        await writing;
      }
      // As if six seconds had passed; the last time they do.
      if (round < kills[database] - 1) await endLeases(workspace);
      else isHanging = false;
      server = await PorticoProcess.start(workspace, { env, key });
    }
    const expected = paths.flatMap((path) => [...acknowledged].map((written) => `${path} ${written}`));
    await receiver.waitUntil(() => expected.every((each) => accepted.has(each)));
    await server.stop();
    for (const ofWrite of Map.groupBy(receiver.received, writeOf).values())
      assert.equal(new Set(ofWrite.map(({ body }) => body.id)).size, 1);
    // A row is never seen to go back: its creation is not delivered after its update was accepted.
    for (const ofRow of Map.groupBy(receiver.at("/sound"), ({ body }) => body.data.id).values()) {
      const types = ofRow.map(({ body }) => body.type);
      const update = types.indexOf("post.updated");
      assert.ok(update === -1 || types.lastIndexOf("post.created") < update, types.join());
    }
  });

  // A SQLite database has one server.
  if (database === "sqlite") return;

  const makeKey = (): Promise<{ key: string }> =>
    runCommand(workspace, ["key", "create", "--name", "Both", "--scopes", "*"]);

  test("two servers make each attempt once", async () => {
    const { key } = await makeKey();
    const servers = await Promise.all([1, 2].map(() => PorticoProcess.start(workspace, { env, key })));
    // Every second event needs two attempts.
    const isRepeated = ({ body }: Received) => Number(body.data.title) % 2 === 0;
    receiver.respond = (response, received) => {
      const isFailure = isRepeated(received) && timesReceived(receiver, received) === 1;
      response.writeHead(isFailure ? 500 : 204).end();
    };
    const body = { url: `${receiver.url}/both`, eventTypes: ["post.created"] };
    assert.equal((await servers[0]!.request("/v1/webhook-endpoints", { body })).status, 201);
    const count = 200;
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        servers[n % 2]!.request("/posts", { body: { title: String(n) } }),
      ),
    );
    await receiver.waitFor("/both", count * 1.5);
    await Promise.all(servers.map((each) => each.stop()));
    const attempts = Map.groupBy(receiver.at("/both"), ({ body }) => body.id);
    assert.equal(attempts.size, count);
    for (const [id, all] of attempts) assert.equal(all.length, isRepeated(all[0]!) ? 2 : 1, id);
  });

  test("a server that was suspended repeats nothing that another one has sent meanwhile", async () => {
    const { key } = await makeKey();
    receiver.respond = (response) => void response.writeHead(204).end();
    const suspended = await PorticoProcess.start(workspace, { env, key });
    const body = { url: `${receiver.url}/suspended`, eventTypes: ["post.created"] };
    assert.equal((await suspended.request("/v1/webhook-endpoints", { body })).status, 201);
    const create = (server: PorticoProcess, title: string) => server.request("/posts", { body: { title } });
    await create(suspended, "before");
    await receiver.waitFor("/suspended", 1);
    process.kill(suspended.pid, "SIGSTOP");
    await endLeases(workspace);
    const other = await PorticoProcess.start(workspace, { env, key });
    for (let n = 0; n < 5; n += 1) await create(other, "meanwhile");
    await receiver.waitFor("/suspended", 6);
    // Until the suspended one takes its lease again, which is free by then.
    await sleep(3_500);
    await other.stop();
    process.kill(suspended.pid, "SIGCONT");
    await create(suspended, "after");
    const isLast = ({ body }: Received): boolean => body.data.title === "after";
    await receiver.waitUntil(() => receiver.at("/suspended").some(isLast));
    await suspended.stop();
    const sent = receiver.at("/suspended").filter(({ body }) => body.data.title === "meanwhile");
    assert.equal(sent.length, 5);
  });
});

/** Creates and changes rows until the server is killed. */
async function write(server: PorticoProcess, acknowledged: Set<string>): Promise<void> {
  const writers = Array.from({ length: 2 }, async () => {
    for (; ; await sleep(40)) {
      const made = await server.request("/posts", { body: { title: "Written" } }).catch(() => undefined);
      if (made?.status !== 201) return;
      const { id } = made.body;
      acknowledged.add(`${id} post.created`);
      const change = { method: "PATCH", body: { title: "Changed" } };
      const changed = await server.request(`/posts/${id}`, change).catch(() => undefined);
      if (changed?.status === 200) acknowledged.add(`${id} post.updated`);
    }
  });
  await Promise.all(writers);
}

/** Ends the leases of a server that was killed. */
async function endLeases({ databaseUrl }: Workspace): Promise<void> {
  await writeDirectly(databaseUrl, "update webhook_reader set lease_until = null");
  const due = "next_attempt_at = '2020-01-01T00:00:00.000Z'";
  await writeDirectly(databaseUrl, `update webhook_queues set ${due} where lease_id is not null`);
}

function writeOf({ body }: Received): string {
  return `${body.data.id} ${body.type}`;
}

/** How often an event has been received at a path. */
function timesReceived(receiver: WebhookReceiver, { path, body }: Received): number {
  return receiver.at(path).filter((each) => each.body.id === body.id).length;
}
