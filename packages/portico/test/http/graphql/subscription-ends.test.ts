// Subscriptions that are interrupted or ended, and how they resume.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestStream } from "../../support/graphql/event-stream.ts";
import {
  createdPosts,
  subscriptionStarted,
  titlesOf,
  withStream,
} from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase, type Portico, PorticoProcess } from "../../support/server.ts";

onEachDatabase("ends of subscriptions", (database) => {
  const server = serve(database);
  describe("resuming", () => resuming(server));
  describe("slow readers", () => slowReaders(server));
  describe("ends", () => ends(server));
  describe("several processes", () => severalProcesses(database));
});

function resuming(server: TestServer): void {
  test("Last-Event-ID resumes an event stream without gaps or duplicates", async () => {
    const first = await TestStream.open(server.portico, createdPosts);
    await subscriptionStarted();
    await server.create("/posts", { title: "1" });
    await first.results(1);
    const { id } = first.events[0]!;
    first.close();
    for (const title of ["2", "3"]) await server.create("/posts", { title });
    const headers = { "last-event-id": id! };
    const writing = (async () => {
      for (let number = 4; number <= 60; number += 1)
        await server.create("/posts", { title: String(number) });
    })();
    await withStream(server.portico, createdPosts, { headers }, async (stream) => {
      await writing;
      assert.deepEqual(
        titlesOf(await stream.results(59)),
        Array.from({ length: 59 }, (_, index) => String(index + 2)),
      );
    });
  });

  test("extensions.lastEventId resumes a WebSocket subscription that reads rows", async () => {
    const query = "subscription { postCreated { title author { name } } }";
    const one = await TestSocket.ready(server.portico);
    one.subscribe("a", query);
    await subscriptionStarted();
    await server.create("/posts", { title: "seen" });
    const [{ extensions }] = await one.results("a", 1);
    await one.close();
    for (const title of ["missed", "gone"]) await server.create("/posts", { title });
    const other = await TestSocket.ready(server.portico);
    other.subscribe("b", query, { extensions: { lastEventId: extensions.eventId } });
    await other.results("b", 2);
    await server.create("/posts", { title: "new" });
    assert.deepEqual(titlesOf(await other.results("b", 3)), ["missed", "gone", "new"]);
    await other.close();
  });

  for (const [lastEventId, issue] of [
    ["999999999", "reference"],
    ["post_1", "format"],
    ["-1", "format"],
    ["1e3", "format"],
  ] as const) {
    test(`Last-Event-ID ${lastEventId} is rejected`, async () => {
      const stream = await TestStream.open(server.portico, createdPosts, {
        headers: { "last-event-id": lastEventId },
      });
      const [{ errors }] = await stream.results(1);
      assert.deepEqual(errors[0].extensions, {
        code: "validation_error",
        details: [{ field: "lastEventId", issue }],
      });
      await stream.ended();
    });
  }
}

/** Creates more posts than fit into the buffers of the operating system, which have some megabytes. */
const flood = 250;

async function pour(server: TestServer): Promise<void> {
  const body = "x".repeat(99_000);
  for (let count = 0; count < flood; count += 10)
    await Promise.all(Array.from({ length: 10 }, () => server.create("/posts", { title: "more", body })));
}

async function logged({ portico }: TestServer, line: RegExp): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until && !line.test(portico.output); ) await sleep(50);
  assert.match(portico.output, line);
}

function slowReaders(server: TestServer): void {
  const query = "subscription { postCreated { title body } }";

  test("a WebSocket that is not read is closed, and its client can resume", { timeout: 60_000 }, async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.subscribe("slow", query);
    await subscriptionStarted();
    await server.create("/posts", { title: "first" });
    const [first] = await socket.results("slow", 1);
    socket.socket.pause();
    await pour(server);
    await logged(server, /"code":(4413|1006)[^\n]*web socket closed/);
    socket.socket.resume();
    const { code, reason } = await socket.closed();
    // If the close frame was not sent in time, the connection was terminated.
    if (code !== 1006) assert.deepEqual({ code, reason }, { code: 4413, reason: "Too slow" });
    const seen = await socket.results("slow", 1);
    const last = seen.at(-1) ?? first;
    const missed = flood - (seen.length - 1);
    assert.ok(missed > 0);
    const again = await TestSocket.ready(server.portico);
    again.subscribe("again", query, { extensions: { lastEventId: last.extensions.eventId } });
    assert.equal((await again.results("again", missed)).length, missed);
    await again.close();
  });

  test("an event stream that is not read ends, and its client can resume", { timeout: 60_000 }, async () => {
    const { url, key } = server.portico;
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "text/event-stream",
      "x-request-id": "slow-reader",
    };
    const clientRequest = request(`${url}/graphql`, { method: "POST", agent: false, headers });
    clientRequest.end(JSON.stringify({ query }));
    const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
    response.pause();
    response.on("error", () => {});
    await subscriptionStarted();
    await pour(server);
    await logged(server, /"requestId":"slow-reader"[^\n]*"msg":"request"/);
    let text = "";
    response.on("data", (bytes) => (text += bytes));
    response.resume();
    // The connection may have been terminated.
    await new Promise((resolve) => response.on("close", resolve));
    const ids = [...text.matchAll(/^id: ([\d-]+)$/gm)].map(([, id]) => id!);
    // The last event may be incomplete.
    const whole = text.split("\n\n").length - 1;
    const last = ids[Math.min(whole, ids.length) - 1]!;
    const missed = flood - (ids.indexOf(last) + 1);
    assert.ok(missed > 0);
    await withStream(server.portico, query, { headers: { "last-event-id": last } }, async (again) => {
      assert.equal((await again.results(missed)).length, missed);
    });
  });
}

function ends(server: TestServer): void {
  const makeKey = (...words: string[]): Promise<{ id: string; key: string }> =>
    server.command("key", "create", "--name", "Short", "--scopes", "posts:read", ...words);

  test("revoking a key ends its streams", async () => {
    const { id, key } = await makeKey();
    const stream = await TestStream.open(server.portico, createdPosts, { key });
    const socket = await TestSocket.ready(server.portico, key);
    socket.subscribe("1", createdPosts);
    await subscriptionStarted();
    await server.command("key", "revoke", id);
    const [{ errors }] = await stream.results(1);
    assert.equal(errors[0].extensions.code, "invalid_credential");
    await stream.ended();
    assert.equal(stream.events.at(-1)!.event, "complete");
    assert.equal((await socket.closed()).code, 4403);
  });

  test("expiry of a key ends its streams", async () => {
    const expiresAt = new Date(Date.now() + 2_500).toISOString();
    const { key } = await server.create("/v1/api-keys", { name: "Short", scopes: ["posts:read"], expiresAt });
    const stream = await TestStream.open(server.portico, createdPosts, { key });
    const socket = await TestSocket.ready(server.portico, key);
    await stream.ended();
    assert.equal(stream.allResults[0].errors[0].extensions.code, "invalid_credential");
    assert.equal((await socket.closed()).code, 4403);
  });

  test("a key that loses a scope ends the streams that require it, and no others", async () => {
    const words = ["--scopes", "posts:read,users:read"];
    const { id, key } = await server.command("key", "create", "--name", "Broad", ...words);
    const stream = await TestStream.open(server.portico, createdPosts, { key });
    const other = await TestStream.open(server.portico, "subscription { userCreated { name } }", { key });
    const socket = await TestSocket.ready(server.portico, key);
    socket.subscribe("1", createdPosts);
    await subscriptionStarted();
    await server.command("key", "update", id, "--scopes", "users:read");
    const [{ errors }] = await stream.results(1);
    assert.equal(errors[0].extensions.code, "insufficient_scope");
    await stream.ended();
    assert.equal((await socket.closed()).code, 4403);
    await server.create("/users", { name: "New", email: "new@example.com" });
    assert.equal((await other.results(1))[0].data.userCreated.name, "New");
    other.close();
  });

  test("SIGTERM notifies all clients, and the process exits at once", async () => {
    const stopping = await PorticoProcess.start(server.workspace, { key: server.portico.key });
    const stream = await TestStream.open(stopping, createdPosts);
    const socket = await TestSocket.ready(stopping);
    socket.subscribe("1", createdPosts);
    // One client that sends nothing, and one that does not read.
    const idle = connect({ port: Number(new URL(stopping.url).port), host: "127.0.0.1" });
    idle.on("error", () => {});
    await subscriptionStarted();
    const started = Date.now();
    assert.equal(await stopping.stop(), 0);
    assert.ok(Date.now() - started < 8_000);
    assert.equal((await socket.closed()).code, 1012);
    await stream.ended();
    assert.deepEqual(stream.events.at(-1)!.event, "complete");
    idle.destroy();
  });
}

function severalProcesses(database: "sqlite" | "postgres"): void {
  const server = serve(database);
  let other: Portico;
  before(async () => {
    other = await PorticoProcess.start(server.workspace, { key: server.portico.key });
  });
  after(async () => {
    await other?.stop();
  });

  test("events of another process are received", () =>
    withStream(server.portico, createdPosts, {}, async (stream) => {
      for (const title of ["1", "2", "3"]) await other.request("/posts", { body: { title } });
      assert.deepEqual(titlesOf(await stream.results(3)), ["1", "2", "3"]);
    }));

  test("a stream resumes in another process", async () => {
    const stream = await TestStream.open(server.portico, createdPosts);
    await subscriptionStarted();
    await server.create("/posts", { title: "here" });
    await stream.results(1);
    stream.close();
    await server.create("/posts", { title: "missed" });
    const headers = { "last-event-id": stream.events[0]!.id! };
    await withStream(other, createdPosts, { headers }, async (again) => {
      assert.deepEqual(titlesOf(await again.results(1)), ["missed"]);
    });
  });
}
