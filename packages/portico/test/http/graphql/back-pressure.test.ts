// WebSocket clients that send without reading: waiting data is bounded, and the server reads again once they read.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { rssMib } from "../../support/linux-process.ts";
import { serveProcess, type TestServer } from "../../support/scenario.ts";
import { onOneDatabase, type PorticoProcess } from "../../support/server.ts";

const mebibyte = 1024 * 1024;
/** Far less than what each test sends, and more than the server needs itself. */
const slackMib = 64;

onOneDatabase("back pressure of WebSockets", (database) => {
  const server = serveProcess(database);
  describe("before connection_init", () => beforeInitialisation(server));
  describe("after connection_init", () => afterInitialisation(server));
});

function beforeInitialisation(server: TestServer<PorticoProcess>): void {
  const text = (length: number): string =>
    JSON.stringify({ type: "ping", payload: { x: "x".repeat(length) } });

  for (const [what, send] of [
    ["a large message", ({ socket }: TestSocket) => socket.send(text(100_000))],
    ["many messages", (opened: TestSocket) => repeat(1_000, () => opened.send(text(100)))],
    ["many WebSocket pings", ({ socket }: TestSocket) => repeat(1_000, () => socket.ping("x".repeat(100)))],
    [
      "an endless message",
      ({ socket }: TestSocket) => repeat(100, () => socket.send("x".repeat(1_000), { fin: false })),
    ],
  ] as const)
    test(`${what} is closed with 4400`, async () => {
      const socket = await TestSocket.open(server.portico);
      send(socket);
      assert.equal((await socket.closed()).code, 4400);
    });
}

function afterInitialisation(server: TestServer<PorticoProcess>): void {
  test("pings of a client that does not read wait in the client, and are answered once it reads", async () => {
    const socket = await TestSocket.ready(server.portico);
    const before = rssMib(server.portico.pid);
    socket.socket.pause();
    const count = 200;
    const ping = JSON.stringify({ type: "ping", payload: { x: "x".repeat(mebibyte / 2) } });
    repeat(count, () => socket.send(ping));
    await settled(socket);
    assert.ok(socket.socket.bufferedAmount > (count / 4) * mebibyte, "the server has read most of it");
    assert.ok(
      rssMib(server.portico.pid) < before + slackMib,
      `${before} MiB before, ${rssMib(server.portico.pid)} MiB now`,
    );
    socket.socket.resume();
    await socket.message(() => socket.messages.filter(({ type }) => type === "pong").length === count);
    await socket.close();
  });

  test("WebSocket pings of a client that does not read wait in the client too", async () => {
    const socket = await TestSocket.ready(server.portico);
    const before = rssMib(server.portico.pid);
    socket.socket.pause();
    // 39 MB: more than the buffers of the operating system hold in both directions.
    repeat(300_000, () => socket.socket.ping("x".repeat(125)));
    await settled(socket);
    assert.ok(socket.socket.bufferedAmount > mebibyte, "the server has read all of it");
    assert.ok(
      rssMib(server.portico.pid) < before + slackMib,
      `${before} MiB before, ${rssMib(server.portico.pid)} MiB now`,
    );
    socket.socket.resume();
    socket.send({ type: "ping" });
    await socket.message(({ type }) => type === "pong");
    await socket.close();
  });

  test("operations of a client that does not read wait, and all have results once it reads", async () => {
    const body = "x".repeat(99_000);
    await Promise.all(repeat(40, () => server.create("/posts", { title: "Long", body })));
    const socket = await TestSocket.ready(server.portico);
    const before = rssMib(server.portico.pid);
    socket.socket.pause();
    // 400 MB of results, if all were produced at once.
    const count = 100;
    repeat(count, (number) => socket.subscribe(`q${number}`, "{ posts(limit: 40) { id body } }"));
    let peak = before;
    for (const until = Date.now() + 2_000; Date.now() < until; await sleep(20))
      peak = Math.max(peak, rssMib(server.portico.pid));
    assert.ok(peak < before + 5 * slackMib, `${before} MiB before, ${peak} MiB at the peak`);
    socket.socket.resume();
    await socket.message(() => socket.messages.filter(({ type }) => type === "complete").length === count);
    assert.ok(socket.messages.filter(({ type }) => type === "next").every(({ payload }) => payload.data));
    await socket.close();
  });

  test("a client that disconnects while its operations wait leaves nothing open", async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.socket.pause();
    repeat(60, (number) => socket.subscribe(`q${number}`, "{ posts(limit: 40) { id body } }"));
    await sleep(500);
    socket.socket.terminate();
    const other = await TestSocket.ready(server.portico);
    other.subscribe("1", "{ __typename }");
    await other.message(({ type }) => type === "complete");
    await other.close();
    assert.doesNotMatch(server.portico.output, /"level":(50|60)/);
  });
}

function repeat<T>(times: number, work: (number: number) => T): T[] {
  return Array.from({ length: times }, (_, number) => work(number));
}

/** Waits until the server has stopped reading. */
async function settled({ socket }: TestSocket): Promise<void> {
  for (let waiting = -1; waiting !== socket.bufferedAmount; await sleep(500)) waiting = socket.bufferedAmount;
}
