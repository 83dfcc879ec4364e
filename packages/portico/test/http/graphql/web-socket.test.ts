// The protocol graphql-transport-ws, message by message: what closes a connection and with which code. No message affects
// other connections.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { type SocketMessage, TestSocket } from "../../support/graphql/web-socket.ts";
import { exchange, expectErrorShape, parseAnswer, serve, type TestServer } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const posts = "subscription { postCreated { title } }";

onOneDatabase("WebSocket", (database) => {
  const server = serve(database, { env: { PORTICO_KEY_QUOTA: "100000/60" } });
  describe("opening", () => opening(server));
  describe("messages", () => messages(server));
  describe("operations", () => operations(server));
});

function opening(server: TestServer): void {
  const closedAfter = async (...sent: (object | string | Buffer)[]): Promise<number> => {
    const socket = await TestSocket.open(server.portico);
    for (const each of sent) socket.send(each);
    return (await socket.closed()).code;
  };
  const init = (authorization?: string): object => ({
    type: "connection_init",
    ...(authorization !== undefined && { payload: { authorization } }),
  });

  test("another subprotocol, or none, is closed with 4406", async () => {
    for (const protocol of ["graphql-ws", null] as const) {
      // A client that offered other subprotocols only closes the connection itself.
      const opened = await TestSocket.open(server.portico, { protocol }).catch(() => undefined);
      if (opened) assert.equal((await opened.closed()).code, 4406);
    }
  });

  test("an invalid or missing credential, or one of the other environment, is closed with 4403", async () => {
    for (const authorization of [
      `Bearer sk_test_${"x".repeat(43)}`,
      `Bearer sk_live_${"x".repeat(43)}`,
      "Basic eDp5",
      "",
      undefined,
    ])
      assert.equal(await closedAfter(init(authorization)), 4403, `with ${authorization}`);
  });

  test("without a credential in the payload, the header of the opening request is used", async () => {
    const headers = { authorization: `Bearer ${server.portico.key}` };
    const socket = await TestSocket.open(server.portico, { headers });
    socket.send(init());
    await socket.message(({ type }) => type === "connection_ack");
    await socket.close();
  });

  test("a second initialisation is closed with 4429", async () => {
    const good = init(`Bearer ${server.portico.key}`);
    assert.equal(await closedAfter(good, good), 4429);
  });

  test("an operation before the initialisation is closed with 4401", async () => {
    assert.equal(await closedAfter({ id: "1", type: "subscribe", payload: { query: posts } }), 4401);
  });

  test("a client that sends nothing for ten seconds is closed with 4408", { timeout: 20_000 }, async () => {
    assert.equal(await closedAfter(), 4408);
  });

  test("another path is 404, and a credential in the query 400", async () => {
    const upgrade = (path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    for (const [path, status] of [
      ["/posts", 404],
      ["/graphql/more", 404],
      [`/graphql?api_key=${server.portico.key}`, 400],
    ] as const) {
      const answer = parseAnswer(await exchange(server.url, upgrade(path)));
      assert.equal(answer.status, status);
      expectErrorShape(answer.body, answer.headers);
    }
  });

  test("a request that offers another protocol upgrade is answered", async () => {
    const received = await exchange(
      server.url,
      `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`,
    );
    assert.match(received, /^HTTP\/1\.1 200 /);
  });
}

function messages(server: TestServer): void {
  for (const [what, message] of [
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["a number as type", '{"type":1}'],
    ["an unknown type", '{"type":"start"}'],
    ["a payload that is a list", '{"type":"ping","payload":[]}'],
    ["bytes", Buffer.from('{"type":"ping"}')],
    ["subscribe without an id", '{"type":"subscribe","payload":{"query":"{__typename}"}}'],
    ["subscribe with an empty id", '{"id":"","type":"subscribe","payload":{"query":"{__typename}"}}'],
    [
      "subscribe with a long id",
      JSON.stringify({ id: "x".repeat(201), type: "subscribe", payload: { query: "" } }),
    ],
    ["subscribe without a payload", '{"id":"1","type":"subscribe"}'],
    ["subscribe with a number as query", '{"id":"1","type":"subscribe","payload":{"query":1}}'],
    ["complete without an id", '{"type":"complete"}'],
  ] as const) {
    test(`${what} is closed with 4400`, async () => {
      const socket = await TestSocket.ready(server.portico);
      socket.send(message);
      assert.equal((await socket.closed()).code, 4400);
    });
  }

  test("a message of more than 1 MiB is closed with 1009", async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.send(JSON.stringify({ type: "ping", payload: { text: "x".repeat(1024 * 1024) } }));
    assert.equal((await socket.closed()).code, 1009);
  });

  test("an id that is in use is closed with 4409", async () => {
    const socket = await TestSocket.ready(server.portico);
    for (let times = 0; times < 2; times += 1) socket.subscribe("é".repeat(200), posts);
    assert.equal((await socket.closed()).code, 4409);
  });

  test("a ping is answered with its payload", async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.send({ type: "ping", payload: { at: 1 } });
    assert.deepEqual(await socket.message(({ type }) => type === "pong"), {
      type: "pong",
      payload: { at: 1 },
    });
    socket.send({ type: "pong" });
    await socket.close();
  });

  test("no message affects other connections", { timeout: 60_000 }, async () => {
    const otherSocket = await TestSocket.ready(server.portico);
    otherSocket.subscribe("1", posts);
    const part = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom("1", posts, "{ __typename }", null));
    const type = fc.constantFrom("connection_init", "subscribe", "complete", "ping", "pong", "next", "start");
    const message = fc.oneof(
      fc.record({ id: part, type, payload: part }, { requiredKeys: [] }).map((each) => JSON.stringify(each)),
      fc
        .record({ id: fc.string(), query: fc.string(), variables: part, extensions: part })
        .map(({ id, ...payload }) => JSON.stringify({ id, type: "subscribe", payload })),
      fc.string(),
      fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (sent, isReady) => {
          const socket = isReady
            ? await TestSocket.ready(server.portico)
            : await TestSocket.open(server.portico);
          for (const each of sent) socket.send(each);
          await sleep(5);
          for (const { type: received } of socket.messages)
            assert.match(received, /^(connection_ack|pong|next|error|complete)$/);
          await socket.close();
        },
      ),
      { numRuns: 150 },
    );
    await server.create("/posts", { title: "Still here" });
    assert.deepEqual((await otherSocket.results("1", 1))[0].data, { postCreated: { title: "Still here" } });
    assert.doesNotMatch(server.portico.output, /"level":(50|60)/);
    await otherSocket.close();
  });
}

function operations(server: TestServer): void {
  test("a query has one result, then complete", async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.subscribe("q", "query Q($n: Int) { posts(limit: $n) { __typename } }", { variables: { n: 1 } });
    await socket.message(({ type }) => type === "complete");
    const own = socket.messages.filter(({ id }: SocketMessage) => id === "q");
    assert.deepEqual(own, [
      { id: "q", type: "next", payload: { data: { posts: [{ __typename: "Post" }] } } },
      { id: "q", type: "complete" },
    ]);
    await socket.close();
  });

  for (const [what, query, code] of [
    ["a syntax error", "{", "malformed_request"],
    ["an unknown field", "subscription { nothing }", "validation_error"],
    ["two fields at once", "subscription { postCreated { id } postUpdated { id } }", "validation_error"],
    ["introspection alone", "subscription { __typename }", "validation_error"],
    ["a document without operations", "fragment A on Post { id }", "validation_error"],
  ] as const) {
    test(`${what} is an error of the operation, and the connection stays open`, async () => {
      const socket = await TestSocket.ready(server.portico);
      socket.subscribe("1", query);
      const { payload } = await socket.message(({ id, type }) => id === "1" && type === "error");
      assert.equal(payload[0].extensions.code, code, JSON.stringify(payload));
      socket.subscribe("1", "{ __typename }");
      await socket.message(({ id, type }) => id === "1" && type === "complete");
      await socket.close();
    });
  }

  test("an operation that its client completes sends nothing more", async () => {
    const socket = await TestSocket.ready(server.portico);
    socket.subscribe("1", posts);
    await sleep(50);
    socket.send({ id: "1", type: "complete" });
    await sleep(50);
    await server.create("/posts", { title: "Unheard" });
    await sleep(200);
    assert.equal(socket.messages.length, 1);
    await socket.close();
  });

  test("operations count against the quota of the key", async () => {
    const words = ["--name", "Few", "--scopes", "posts:read", "--rate-limit", "2", "--rate-window", "60"];
    const { key } = await server.command("key", "create", ...words);
    const socket = await TestSocket.ready(server.portico, key);
    for (const id of ["1", "2", "3"]) socket.subscribe(id, "{ __typename }");
    const { payload } = await socket.message(({ id, type }) => id === "3" && type === "error");
    assert.equal(payload[0].extensions.code, "rate_limited");
    await socket.close();
  });
}
