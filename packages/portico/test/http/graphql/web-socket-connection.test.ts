// WebSocket connections: heartbeats and frames.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket, WebSocketServer } from "ws";
import { Position } from "../../../src/events/position.ts";
import { WebSocketConnection } from "../../../src/graphql/transports/web-socket-connection.ts";
import { framesOf, nextPrefix } from "../../../src/graphql/transports/web-socket-frame.ts";

/** Calls `work` with both ends of a WebSocket connection. */
async function withConnection(
  work: (connection: WebSocketConnection, socket: WebSocket) => Promise<void>,
): Promise<void> {
  const server = createServer().listen(0, "127.0.0.1");
  const sockets = new WebSocketServer({ noServer: true });
  const opened = new Promise<WebSocketConnection>((resolve) => {
    server.on("upgrade", (request, stream, head) =>
      sockets.handleUpgrade(request, stream, head, (socket) => {
        const receive = () => ({ update: () => {}, end: () => {} });
        const listeners = { onMessage: () => {}, onClosing: () => {}, onClosed: () => {} };
        resolve(new WebSocketConnection(socket, stream, { receive, ...listeners }));
      }),
    );
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, "graphql-transport-ws");
  try {
    await work(await opened, socket);
  } finally {
    socket.terminate();
    server.close();
  }
}

test("a client that answers heartbeats stays connected, and one that does not is disconnected", () =>
  withConnection(async (connection, socket) => {
    await new Promise((resolve) => socket.once("open", resolve));
    for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) {
      connection.heartbeat();
      await sleep(100);
    }
    assert.equal(socket.readyState, WebSocket.OPEN);
    socket.pause();
    connection.heartbeat();
    await sleep(100);
    connection.heartbeat();
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  }));

test("frames of every length are decoded correctly", () =>
  withConnection(async (connection, socket) => {
    const received: string[] = [];
    socket.on("message", (bytes) => received.push(String(bytes)));
    await new Promise((resolve) => socket.once("open", resolve));
    const prefix = nextPrefix("ü");
    const lengths = [0, 1, 83, 84, 85, 65_480, 65_496, 65_497, 65_536, 100_000];
    const sent = lengths.map((bytes, sequence) => ({
      position: new Position(0, sequence),
      bytes,
      text: `"${"é".repeat(bytes / 2)}"`,
    }));
    connection.write(framesOf(prefix, sent));
    while (received.length < sent.length) await sleep(5);
    assert.deepEqual(
      received.map((text) => JSON.parse(text)),
      sent.map(({ text }) => ({ id: "ü", type: "next", payload: JSON.parse(text) })),
    );
  }));
