// Callers who do not read, do not send, or hold connections open: each costs a bounded time and memory, and others
// are served in the meantime.

import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RawConnection } from "../../support/raw-connection.ts";
import { parseAnswer, TestServer } from "../../support/scenario.ts";
import { type Environment, makeWorkspace, PorticoProcess } from "../../support/server.ts";

// Connections cost the same on every database, so one is enough.
const database = "sqlite";

/** A server for one test. */
async function started(
  context: TestContext,
  env: Environment = {},
  prepare?: (server: TestServer) => Promise<void>,
): Promise<TestServer> {
  const server = new TestServer();
  server.workspace = await makeWorkspace(database);
  context.after(() => server.workspace.remove());
  server.portico = await PorticoProcess.start(server.workspace, { env });
  context.after(async () => {
    await server.portico.stop();
  });
  await prepare?.(server);
  return server;
}

/** A page of posts then has ten megabytes, of which the operating system buffers about four. */
async function fillPosts(server: TestServer): Promise<void> {
  for (let count = 0; count < 100; count += 1)
    await server.create("/posts", { title: `Long ${count}`, body: "x".repeat(100_000) });
}

function headersOf({ portico }: TestServer): Record<string, string> {
  return { Authorization: `Bearer ${portico.key}` };
}

const longQuery = JSON.stringify({ query: "{ posts(limit: 100) { id title body } }" });

// Some tests wait for half a minute, so they run concurrently.
describe("slow callers", { concurrency: 3 }, () => {
  test("callers who read nothing for thirty seconds, or almost nothing, are disconnected", async (context) => {
    const server = await started(context, {}, fillPosts);
    const headers = headersOf(server);
    const json = { ...headers, "Content-Type": "application/json" };
    const requests: Readonly<Record<string, (connection: RawConnection) => void>> = {
      "a REST page": (connection) => connection.request("GET /posts?limit=100", headers),
      "a GraphQL response": (connection) => connection.request("POST /graphql", json, longQuery),
      "many responses on one connection": (connection) => {
        for (let count = 0; count < 5; count += 1) connection.request("GET /posts?limit=40", headers);
      },
      "a static file, many times": (connection) => {
        for (let count = 0; count < 5; count += 1) connection.request(`GET ${file}`);
      },
      "an export": (connection) => connection.request("GET /v1/exports/posts", headers),
      "a response after which the connection is closed": (connection) =>
        connection.request("GET /posts?limit=100", { ...headers, Connection: "close" }),
    };
    const [file] = /\/graphql\/files\/graphiql\.\w+\.js/.exec(
      await (await fetch(`${server.url}/graphql`, { headers: { accept: "text/html" } })).text(),
    )!;
    const idle: Record<string, RawConnection> = {};
    for (const [what, send] of Object.entries(requests)) {
      idle[what] = await RawConnection.open(server.url, { reads: false });
      send(idle[what]);
    }
    const trickling = await RawConnection.open(server.url, { reads: false });
    trickling.request("GET /posts?limit=100", headers);
    const trickle = setInterval(() => trickling.read(1), 200);
    const reading = await RawConnection.open(server.url, { reads: false });
    reading.request("GET /posts?limit=100", headers);
    const slowly = setInterval(() => reading.read(100_000), 200);
    // Large responses of a tenant are built in turn, so the earlier ones are complete once this one is, and wait
    // from then on.
    assert.equal((await server.request("/posts?limit=100")).body.data.length, 100);
    await sleep(36_000);
    clearInterval(trickle);
    clearInterval(slowly);
    for (const [what, connection] of Object.entries(idle)) {
      const bytes = await connection.drain();
      assert.ok(bytes < 9_000_000, `${what}: ${bytes} bytes came`);
    }
    assert.ok((await trickling.drain()) < 9_000_000, "a byte at a time");
    reading.socket.resume();
    const rest = await RawConnection.open(server.url);
    rest.request("GET /healthz");
    await rest.until(/"status":"ok"/);
    assert.equal(await reading.isClosedWithin(1_000), false, "a caller who reads slowly is served");
    reading.close();
    rest.close();
  });

  test("callers who do not complete their request get 408 and are disconnected", async (context) => {
    const server = await started(context);
    const headers = { ...headersOf(server), "Content-Type": "application/json" };
    const silent = await RawConnection.open(server.url);
    const trickled = await RawConnection.open(server.url);
    trickled.request("POST /posts", { ...headers, "Content-Length": "1000000" });
    const chunked = await RawConnection.open(server.url);
    chunked.request("POST /graphql", { ...headers, "Transfer-Encoding": "chunked" });
    chunked.socket.write('5\r\n{"que\r\n');
    const form = await RawConnection.open(server.url);
    form.request("POST /oauth/token", {
      "Content-Type": "application/x-www-form-urlencoded",
      "Content-Length": "1000",
    });
    const importHeaders = { ...headers, "Content-Type": "application/x-ndjson" };
    const stalled = await RawConnection.open(server.url);
    stalled.request("POST /v1/imports/posts", { ...importHeaders, "Content-Length": "1000000" });
    stalled.socket.write('{"title":');
    // An import may take as long as it needs, at 1 KiB a second.
    const steady = await RawConnection.open(server.url);
    steady.request("POST /v1/imports/posts", { ...importHeaders, "Transfer-Encoding": "chunked" });
    const trickle = setInterval(() => {
      for (const connection of [trickled, form]) connection.socket.write("a");
      steady.socket.write(`400\r\n${" ".repeat(1023)}\n\r\n`);
    }, 500);
    const all = { silent, trickled, chunked, form, stalled };
    // The timeout is 30 s, checked every 2 s.
    const closed = await Promise.all(Object.values(all).map((each) => each.isClosedWithin(36_000)));
    clearInterval(trickle);
    assert.deepEqual(closed, [true, true, true, true, true]);
    assert.equal(steady.received, "");
    steady.socket.write("0\r\n\r\n");
    await steady.until(/"created":0/);
    steady.close();
    for (const [what, { received }] of Object.entries(all)) {
      assert.equal(parseAnswer(received).status, 408, what);
      assert.equal(parseAnswer(received).body.error.code, "request_timeout", what);
    }
  });

  test("a refused caller who does not close the connection is disconnected", async (context) => {
    const server = await started(context);
    const unread = await RawConnection.open(server.url, { stays: true });
    unread.socket.write("\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n");
    const tunnel = await RawConnection.open(server.url, { stays: true });
    tunnel.request("CONNECT example.com:443");
    const socket = await RawConnection.open(server.url, { stays: true });
    socket.request("GET /posts", { Connection: "Upgrade", Upgrade: "websocket" });
    for (const connection of [unread, tunnel, socket]) await connection.until(/^HTTP\/1\.1 4\d\d /);
    await sleep(3_000);
    for (const connection of [unread, tunnel, socket]) {
      // Data sent to a closed connection is answered with a reset, which the next write detects.
      connection.socket.write("a");
      await sleep(100);
      connection.socket.write("a");
      assert.equal(await connection.isClosedWithin(1_000), true);
    }
  });

  test("a caller who holds all connections open is displaced by new callers", async (context) => {
    const server = await started(context, { PORTICO_MAX_CONNECTIONS: "30" });
    const connections = await Promise.all(
      Array.from({ length: 60 }, () => RawConnection.open(server.url, { from: "127.0.0.2" })),
    );
    for (let count = 0; count < 20; count += 1)
      assert.equal(await statusOn(server, "127.0.0.3"), 200, `caller ${count}`);
    for (const each of connections) each.close();
  });

  test("a caller whose requests keep all connections waiting is displaced by others, and displaces none", async (context) => {
    const server = await started(context, { PORTICO_MAX_CONNECTIONS: "30" });
    const busy = async (from: string): Promise<RawConnection> => {
      const connection = await RawConnection.open(server.url, { from });
      const headers = { ...headersOf(server), "Content-Type": "application/json", "Content-Length": "100" };
      connection.request("POST /posts", headers);
      return connection;
    };
    const others = await Promise.all(Array.from({ length: 5 }, () => busy("127.0.0.3")));
    const connections: RawConnection[] = [];
    for (let count = 0; count < 40; count += 1) {
      connections.push(await busy("127.0.0.2"));
      // A connection is idle until its request has arrived.
      await sleep(20);
    }
    const refused = connections.filter(({ received }) => /^HTTP\/1\.1 503 /.test(received));
    assert.ok(refused.length > 0, "excess connections get a response");
    for (const { received } of refused) {
      assert.equal(parseAnswer(received).body.error.code, "unavailable");
      assert.equal(parseAnswer(received).headers.get("connection"), "close");
    }
    assert.equal(await statusOn(server, "127.0.0.4"), 200);
    for (const each of others) {
      assert.equal(await each.isClosedWithin(0), false);
      each.close();
    }
    for (const each of connections) each.close();
  });

  test("behind a proxy, connections count for the forwarded address", async (context) => {
    const env = { PORTICO_MAX_CONNECTIONS: "30", PORTICO_TRUSTED_PROXIES: "127.0.0.0/8" };
    const server = await started(context, env);
    const headers = { ...headersOf(server), "Content-Type": "application/json", "Content-Length": "100" };
    const busy = async (address: string): Promise<RawConnection> => {
      const connection = await RawConnection.open(server.url);
      connection.request("POST /posts", { ...headers, "X-Forwarded-For": address });
      return connection;
    };
    const others = await Promise.all(Array.from({ length: 5 }, () => busy("203.0.113.9")));
    const connections = await Promise.all(Array.from({ length: 25 }, () => busy("198.51.100.7")));
    await sleep(200);
    const newcomer = await RawConnection.open(server.url);
    newcomer.request("GET /healthz", { "X-Forwarded-For": "192.0.2.1" });
    await newcomer.until(/^HTTP\/1\.1 200 /);
    assert.deepEqual(await Promise.all(others.map((each) => each.isClosedWithin(0))), Array(5).fill(false));
    for (const each of [...others, ...connections, newcomer]) each.close();
  });

  test("if request bodies exceed the memory limit, the slowest one ends with 503", async (context) => {
    // A quarter of the buffer is for bodies.
    const server = await started(context, { PORTICO_BUFFER_MIB: "8" });
    const json = { ...headersOf(server), "Content-Type": "application/json" };
    const connections: RawConnection[] = [];
    for (let count = 0; count < 3; count += 1) {
      const connection = await RawConnection.open(server.url);
      connection.request("POST /posts", { ...json, "Content-Length": "1000000" });
      connection.socket.write(`{"title": "${"x".repeat(900_000)}`);
      connections.push(connection);
      await sleep(200);
    }
    await connections[0]!.until(/^HTTP\/1\.1 503 /);
    assert.equal(await connections[0]!.isClosedWithin(1_000), true);
    assert.equal(parseAnswer(connections[0]!.received).body.error.code, "unavailable");
    assert.equal(connections[1]!.received + connections[2]!.received, "");
    await server.create("/posts", { title: "Others are heard", body: "x".repeat(100_000) });
    for (const each of connections) each.close();
  });

  test("if unread responses exceed the memory limit, the one unread for the longest is dropped", async (context) => {
    const server = await started(context, { PORTICO_BUFFER_MIB: "16" }, fillPosts);
    const open = async (): Promise<RawConnection> => {
      const connection = await RawConnection.open(server.url, { reads: false });
      connection.request("GET /posts?limit=100", headersOf(server));
      return connection;
    };
    const first = await open();
    await sleep(1_500);
    const second = await open();
    await sleep(3_000);
    assert.ok((await first.drain()) < 9_000_000);
    assert.match(server.portico.output, /"connectionsClosed":1,"msg":"overloaded/);
    second.socket.resume();
    assert.equal(await second.isClosedWithin(500), false);
    second.close();
  });

  test("of pipelined requests, those beyond a hundred are refused", async (context) => {
    const server = await started(context);
    const connection = await RawConnection.open(server.url);
    const lines = `GET /posts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.portico.key}\r\n\r\n`;
    connection.socket.write(lines.repeat(300));
    await connection.until(/HTTP\/1\.1 429 /);
    const statuses = [...connection.received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    assert.deepEqual(new Set(statuses.slice(0, 100)), new Set(["200"]));
    connection.close();
  });

  test("a caller with Expect: 100-continue receives 100 Continue only if the request is not refused", async (context) => {
    const server = await started(context);
    const json = { "Content-Type": "application/json", Expect: "100-continue", "Content-Length": "18" };
    const refused = await RawConnection.open(server.url);
    refused.request("POST /posts", json);
    assert.equal(await refused.isClosedWithin(3_000), true);
    assert.match(refused.received, /^HTTP\/1\.1 401 /);
    const accepted = await RawConnection.open(server.url);
    accepted.request("POST /posts", { ...json, ...headersOf(server) });
    await accepted.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    accepted.socket.write('{"title": "Asked"}');
    await accepted.until(/HTTP\/1\.1 201 /);
    accepted.request("GET /healthz");
    await accepted.until(/HTTP\/1\.1 200 /);
    accepted.close();
  });
});

/** The status of a response to a caller at an address, on a new connection. */
async function statusOn({ url }: TestServer, from: string): Promise<number> {
  const connection = await RawConnection.open(url, { from });
  connection.request("GET /healthz", { Connection: "close" });
  await connection.isClosedWithin(5_000);
  return connection.received === "" ? 0 : parseAnswer(connection.received).status;
}
