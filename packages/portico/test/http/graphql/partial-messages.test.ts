// Incomplete WebSocket messages: the memory of all is bounded, and each has a time limit.

import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { TestServer } from "../../support/scenario.ts";
import { type Environment, makeWorkspace, PorticoProcess } from "../../support/server.ts";

/** A server for one test. The database does not matter. */
async function started(context: TestContext, env: Environment = {}): Promise<TestServer> {
  const server = new TestServer();
  server.workspace = await makeWorkspace("sqlite");
  context.after(() => server.workspace.remove());
  server.portico = await PorticoProcess.start(server.workspace, { env });
  context.after(async () => {
    await server.portico.stop();
  });
  return server;
}

/** Sends the first fragment of a message. */
const begin = ({ socket }: TestSocket, text: string): void => socket.send(text, { fin: false });
/** Sends an incomplete frame. */
const beginFrame = ({ socket }: TestSocket, bytes: number): void => {
  const head = Buffer.alloc(14);
  head.set([0x81, 0x80 | 127]);
  head.writeBigUInt64BE(1_000_000n, 2);
  const { _socket: stream } = socket as unknown as { _socket: NodeJS.WritableStream };
  stream.write(Buffer.concat([head, Buffer.alloc(bytes, "x")]));
};

describe("incomplete messages", { concurrency: true }, () => {
  for (const [how, send] of [
    ["pieces", (socket: TestSocket) => begin(socket, "x".repeat(900_000))],
    ["parts of a frame", (socket: TestSocket) => beginFrame(socket, 900_000)],
  ] as const)
    test(`of more ${how} than the memory limit allows, the oldest are rejected`, async (context) => {
      // A quarter of it is for messages and bodies being received: 16 MiB.
      const server = await started(context, { PORTICO_BUFFER_MIB: "64" });
      const sockets: TestSocket[] = [];
      for (let count = 0; count < 60; count += 1) {
        const socket = await TestSocket.ready(server.portico);
        send(socket);
        sockets.push(socket);
      }
      const first = await sockets[0]!.closed();
      assert.ok([1013, 1006].includes(first.code), `${first.code}`);
      // The other connections have been closed before this response.
      await server.create("/posts", { title: "Others are heard", body: "x".repeat(90_000) });
      await sleep(500);
      const open = sockets.filter(({ socket }) => socket.readyState === socket.OPEN);
      assert.ok(open.length > 8 && open.length < 20, `${open.length} are open`);
      assert.ok(open.includes(sockets.at(-1)!));
      await sleep(1_000);
      assert.match(server.portico.output, /"bodiesRefused":\d+,"msg":"overloaded/);
      assert.doesNotMatch(server.portico.output, /"level":(50|60)/);
    });

  test("request bodies and messages share the memory limit", async (context) => {
    const server = await started(context, { PORTICO_BUFFER_MIB: "8" });
    const first = await TestSocket.ready(server.portico);
    begin(first, "x".repeat(900_000));
    await sleep(200);
    const others = await Promise.all([1, 2].map(() => TestSocket.ready(server.portico)));
    for (const other of others) begin(other, "x".repeat(900_000));
    const { code, reason } = await first.closed();
    assert.deepEqual({ code, reason }, { code: 1013, reason: "Too many messages are being received" });
    for (const other of others) {
      other.socket.send("x", { fin: true });
      assert.equal((await other.closed()).code, 4400, "what was complete is read");
    }
  });

  test("a message that is incomplete after 30 seconds is closed with 4400, whatever else is sent", async (context) => {
    const server = await started(context);
    const stalled = await TestSocket.ready(server.portico);
    begin(stalled, "x");
    const trickling = await TestSocket.ready(server.portico);
    begin(trickling, '{"type": "ping", "payload": {"x": "');
    const frame = await TestSocket.ready(server.portico);
    beginFrame(frame, 1);
    const slow = await TestSocket.ready(server.portico);
    const timer = setInterval(() => {
      trickling.socket.ping();
      trickling.socket.send("x", { fin: false });
      slow.socket.send('{"type": ', { fin: false });
      slow.socket.send('"ping"}');
    }, 500);
    context.after(() => clearInterval(timer));
    await sleep(20_000);
    for (const each of [stalled, trickling, frame]) assert.equal(each.socket.readyState, each.socket.OPEN);
    for (const each of [stalled, trickling]) {
      const { code, reason } = await each.closed();
      assert.deepEqual({ code, reason }, { code: 4400, reason: "A message was not received in time" });
    }
    assert.equal((await frame.closed()).code, 4400);
    clearInterval(timer);
    assert.equal(slow.socket.readyState, slow.socket.OPEN, "complete messages have no time limit");
    await slow.close();
  });
});
