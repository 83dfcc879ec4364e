// Messages whose members have wrong types are rejected with the code of the protocol, and the server keeps running.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { createdPosts, subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { OwnPostgres } from "../../support/own-postgres.ts";
import { exchange, expectErrorShape, parseAnswer, serve, type TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const poison = { toString: 1, valueOf: 1 };
/** Exhausts the stack of a function that recurses for each level. */
const deepList = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
const query = "{ __typename }";

onEachDatabase("messages of stream clients", (database) => {
  const server = serve(database);
  describe("handshake", () => handshake(server));
  describe("WebSocket", () => webSocket(server));
  describe("lastEventId", () => lastEventId(server));
});

function handshake(server: TestServer): void {
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const version = "Sec-WebSocket-Version: 13";
  for (const [what, method, headers, status] of [
    ["without a key", "GET", [version], 400],
    ["with a short key", "GET", ["Sec-WebSocket-Key: abc", version], 400],
    ["of another version", "GET", [key, "Sec-WebSocket-Version: 7"], 400],
    ["with a malformed subprotocol", "GET", [key, version, "Sec-WebSocket-Protocol: a,,b"], 400],
    ["by another method", "POST", [key, version], 405],
  ] as const)
    test(`a handshake ${what} is ${status}`, async () => {
      const lines = ["Host: x", "Upgrade: websocket", "Connection: Upgrade", ...headers];
      const received = await exchange(
        server.url,
        `${method} /graphql HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`,
      );
      const answer = parseAnswer(received);
      assert.equal(answer.status, status);
      expectErrorShape(answer.body, answer.headers);
    });
}

function webSocket(server: TestServer): void {
  const closedAfter = async (socket: TestSocket, message: object | string): Promise<number> => {
    socket.send(message);
    return (await socket.closed()).code;
  };

  for (const authorization of [
    poison,
    {},
    [],
    ["Bearer x"],
    1,
    true,
    null,
    "Bearer \u0000",
    "x".repeat(16_385),
  ])
    test(`connection_init with ${JSON.stringify(authorization).slice(0, 40)} is closed with 4400`, async () => {
      const socket = await TestSocket.open(server.portico);
      assert.equal(await closedAfter(socket, { type: "connection_init", payload: { authorization } }), 4400);
    });

  test("two credentials in connection_init are closed with 4400", async () => {
    const authorization = `Bearer ${server.portico.key}`;
    const payload = { authorization, Authorization: authorization };
    const socket = await TestSocket.open(server.portico);
    assert.equal(await closedAfter(socket, { type: "connection_init", payload }), 4400);
  });

  const wrong: (object | string)[] = [
    { type: poison },
    { type: "toString" },
    { type: "ping", payload: "text" },
    { type: "pong", payload: 1 },
    `{"type":"ping","payload":{"deep":${deepList}}}`,
    { type: "complete", id: poison },
    { type: "complete", id: ["1"] },
    { type: "subscribe", id: poison, payload: { query } },
    { type: "subscribe", id: "1", payload: query },
    `{"type":"subscribe","id":"1","payload":{"query":"{ __typename }","variables":{"deep":${deepList}}}}`,
    `{"type":"subscribe","id":"1","payload":{"query":"{ __typename }","extensions":{"deep":${deepList}}}}`,
    { type: "subscribe", id: "1", payload: { query, operationName: "x".repeat(1_001) } },
  ];
  // These are objects only for `variables` and `extensions`.
  for (const member of ["query", "operationName", "variables", "extensions"])
    for (const value of [poison, 1, true, [poison]])
      if (value !== poison || member === "query" || member === "operationName")
        wrong.push({ type: "subscribe", id: "1", payload: { query, [member]: value } });
  for (const message of wrong) {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    test(`${text.slice(0, 100)} is closed with 4400`, async () => {
      assert.equal(await closedAfter(await TestSocket.ready(server.portico), text), 4400);
    });
  }

  test("none of them is logged as a server error", () => {
    assert.doesNotMatch(server.portico.output, /"level":(50|60)/);
  });
}

function lastEventId(server: TestServer): void {
  for (const [value, issue] of [
    [poison, "type"],
    [["1"], "type"],
    [true, "type"],
    [-1, "format"],
    [1.5, "format"],
  ] as const)
    test(`${JSON.stringify(value)} is rejected`, async () => {
      const details = [{ field: "lastEventId", issue }];
      const extensions = { lastEventId: value };
      const stream = await TestStream.open(server.portico, createdPosts, { extensions });
      const [{ errors }] = await stream.results(1);
      assert.deepEqual(errors[0].extensions, { code: "validation_error", details });
      await stream.ended();
      const socket = await TestSocket.ready(server.portico);
      socket.subscribe("1", createdPosts, { extensions });
      const { payload } = await socket.message(({ type }) => type === "error");
      assert.deepEqual(payload[0].extensions, { code: "validation_error", details });
      await socket.close();
    });
}

describe("an outage of PostgreSQL", () => {
  let database: OwnPostgres;
  let workspace: Workspace;
  let portico: Portico;
  before(async () => {
    database = await OwnPostgres.start();
    workspace = await makeWorkspace("postgres", database.url);
    portico = await Portico.start(workspace);
  });
  after(async () => {
    await portico?.stop();
    await database?.remove();
  });

  test("clients can connect and disconnect meanwhile, and receive events again afterwards", {
    timeout: 60_000,
  }, async () => {
    const socket = await TestSocket.ready(portico);
    const stream = await TestStream.open(portico, createdPosts);
    const leaving = await TestSocket.ready(portico);
    leaving.subscribe("1", createdPosts);
    await subscriptionStarted();
    // The last subscriber disconnects, so the next one has to start listening without a database.
    stream.close();
    await leaving.close();
    await sleep(100);
    await database.stop();
    for (let number = 0; number < 5; number += 1) {
      socket.subscribe(`gone${number}`, createdPosts);
      await sleep(20);
      socket.send({ id: `gone${number}`, type: "complete" });
    }
    await sleep(1_500);
    await database.restart();
    const { status } = await fetch(`${portico.url}/healthz`);
    assert.ok(status === 200 || status === 503);
    await eventually(async () => {
      const title = "Back";
      const again = await TestStream.open(portico, createdPosts);
      try {
        await subscriptionStarted();
        await portico.request("/posts", { body: { title } });
        assert.equal((await again.results(1))[0].data.postCreated.title, title);
      } finally {
        again.close();
      }
    });
    await socket.close();
  });
});

/** Retries for some seconds. */
async function eventually(work: () => Promise<void>): Promise<void> {
  for (const until = Date.now() + 20_000; ; await sleep(200))
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
}
