// Subscriptions that end while they start, and clients that disconnect meanwhile, leave nothing open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createdPosts, titlesOf, withStream } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { serveProcess, type TestServer } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

/** A credential may have 100 subscriptions open. */
const pairs = 150;

onOneDatabase("subscriptions that end while they start", (database) => {
  const server = serveProcess(database);

  test("subscribe and complete in one packet leave nothing open", async () => {
    const socket = await TestSocket.ready(server.portico);
    for (let number = 0; number < pairs; number += 1)
      together(socket, () => {
        socket.subscribe(`s${number}`, createdPosts);
        socket.send({ id: `s${number}`, type: "complete" });
      });
    await subscribes(server, "pairs");
    assert.deepEqual(
      socket.messages.filter(({ type }) => type === "error"),
      [],
    );
    await socket.close();
  });

  test("a WebSocket that is closed while it subscribes leaves nothing open", async () => {
    for (let number = 0; number < pairs; number += 10) {
      const sockets = await Promise.all(Array.from({ length: 10 }, () => TestSocket.ready(server.portico)));
      for (const socket of sockets) {
        socket.subscribe("1", createdPosts);
        socket.socket.terminate();
      }
      await Promise.all(sockets.map((socket) => socket.closed()));
    }
    await subscribes(server, "closed");
  });

  for (const [what, leave] of [
    ["leaves", (connection: RawConnection) => connection.close()],
    ["resets the connection", (connection: RawConnection) => connection.reset()],
    ["closes its side", (connection: RawConnection) => void connection.socket.end()],
  ] as const)
    test(`a client that requests an event stream and ${what} leaves nothing open`, async () => {
      for (let number = 0; number < pairs; number += 10) {
        const connections = await Promise.all(
          Array.from({ length: 10 }, () => RawConnection.open(server.url, { stays: true })),
        );
        // The second request is pipelined, so its response has no socket when the client disconnects.
        for (const connection of connections)
          for (let times = 0; times < 2; times += 1) requestEvents(server, connection);
        await sleep(number % 20);
        for (const connection of connections) leave(connection);
        await Promise.all(connections.map((connection) => connection.isClosedWithin(5_000)));
      }
      await subscribes(server, what);
    });
});

/** Sends the messages in one packet. */
function together({ socket }: TestSocket, send: () => void): void {
  const { _socket: stream } = socket as unknown as { _socket: { cork(): void; uncork(): void } };
  stream.cork();
  send();
  stream.uncork();
}

function requestEvents({ portico }: TestServer, connection: RawConnection): void {
  const headers = {
    Authorization: `Bearer ${portico.key}`,
    "Content-Type": "application/json",
    Accept: "text/event-stream",
  };
  connection.request("POST /graphql", headers, JSON.stringify({ query: createdPosts }));
}

/** Checks that a new subscription receives events. */
async function subscribes(server: TestServer, title: string): Promise<void> {
  await sleep(100);
  await withStream(server.portico, createdPosts, {}, async (stream) => {
    await server.create("/posts", { title });
    assert.deepEqual(titlesOf(await stream.results(1)), [title]);
  });
  assert.doesNotMatch(server.portico.output, /"level":(50|60)/);
}
