// What can be observed of a server from outside: request ids, timing, logs, health.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  exchange,
  expectAnswer,
  parseAnswer,
  serveProcess,
  type TestServer,
} from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess } from "../../support/server.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

onEachDatabase("observation", (database) => {
  const server = serveProcess(database, { env: { PORTICO_TIMING: "1" } });
  describe("request ids", () => requestIds(server));
  describe("timing", () => timing(server));
  describe("logs", () => logs(server));
  describe("the start message", () => greeting(server));
  describe("health", () => health(server));
});

function requestIds(server: TestServer): void {
  const idOf = async (id?: string, path = "/posts") =>
    (await server.request(path, id === undefined ? {} : { headers: { "x-request-id": id } })).headers.get(
      "x-request-id",
    );

  test("every response has its own request id", async () => {
    const ids = await Promise.all(
      ["/posts", "/posts", "/posts/x", "/nowhere", "/healthz", "/posts/%zz", `/posts/${"x".repeat(300)}`].map(
        (path) => idOf(undefined, path),
      ),
    );
    for (const id of ids) assert.match(id ?? "", uuid);
    assert.equal(new Set(ids).size, ids.length);
  });

  test("a response without a body, or without authentication, has one too", async () => {
    const { id } = await server.create("/posts", { title: "x" });
    const removed = await server.request(`/posts/${id}`, { method: "DELETE" });
    assert.match(removed.headers.get("x-request-id") ?? "", uuid);
    const unknown = await server.request("/posts", { key: null });
    assert.match(unknown.headers.get("x-request-id") ?? "", uuid);
  });

  test("the caller's request id is kept if it is valid", async () => {
    for (const id of ["a", "abc-123_x.Y", "1".repeat(128)]) {
      assert.equal(await idOf(id), id);
      assert.equal(await idOf(id, "/nowhere"), id);
    }
  });

  test("an id that could forge a log line, or is very long, is replaced", async () => {
    for (const id of ["a b", 'x"y', "<b>", "1".repeat(129), "", "ü", "a,b"]) {
      assert.match((await idOf(id)) ?? "", uuid, id);
    }
  });

  test("an id that looks like a credential is replaced", async () => {
    for (const id of [server.portico.key, "my-sk_live_x", "eyJhbGciOiJub25lIn0.e30.x", "a.eyJ"]) {
      assert.match((await idOf(id)) ?? "", uuid, id);
    }
  });
}

function timing(server: TestServer): void {
  test("Server-Timing lists the stages of a request and their sum if it is requested", async () => {
    for (const path of ["/posts", "/nowhere", "/healthz"]) {
      const header = (await server.request(path)).headers.get("server-timing") ?? "";
      assert.match(header, /(?:^|, )total;dur=\d+(?:\.\d+)?$/, path);
      for (const stage of header.split(", ")) assert.match(stage, /^[a-z]+;dur=\d+(?:\.\d+)?$/);
    }
  });
}

function logs(server: TestServer): void {
  interface Line {
    readonly level: number;
    readonly msg: string;
    readonly requestId?: string;
    readonly [name: string]: unknown;
  }
  const lines = (): Line[] =>
    server.portico.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  /** The log line of a request; lines are buffered briefly before they are written. */
  const lineOf = async (requestId: string): Promise<Line> => {
    for (const until = Date.now() + 5_000; Date.now() < until; await sleep(20)) {
      const line = lines().find((line) => line.requestId === requestId);
      if (line) return line;
    }
    throw new Error(`there is no log line for the request ${requestId}`);
  };

  test("a request has one log line with who, what and how long", async () => {
    const headers = { "x-request-id": "one-line" };
    const { status } = await server.request("/posts?q=secret+words", { headers });
    const line = await lineOf("one-line");
    assert.partialDeepStrictEqual(line, {
      level: 30,
      method: "GET",
      route: "/posts",
      path: "/posts",
      status,
    });
    assert.equal(typeof line["durationMs"], "number");
    assert.match(String(line["keyId"]), /^api_key_/);
    assert.match(String(line["tenantId"]), /^tenant_/);
    const own = lines().filter(({ requestId, msg }) => requestId === "one-line" && msg === "request");
    assert.equal(own.length, 1);
    assert.doesNotMatch(JSON.stringify(line), /secret/);
  });

  test("a caller who disconnects before the response has a log line too", async () => {
    const { hostname, port } = new URL(server.url);
    const head = `POST /posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.portico.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\nX-Request-Id: hung-up\r\n\r\n{`;
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(head);
    await sleep(100);
    socket.resetAndDestroy();
    const line = await lineOf("hung-up");
    assert.partialDeepStrictEqual(line, { method: "POST", route: "/posts", status: 499 });
  });

  test("a refused request has a log line too", async () => {
    await server.request("/posts", { key: null, headers: { "x-request-id": "refused" } });
    assert.partialDeepStrictEqual(await lineOf("refused"), { status: 401, method: "GET" });
  });

  test("an unreadable request has a request id, which its log line contains", async () => {
    const { headers } = parseAnswer(await exchange(server.url, "GET / HTTP/1.1\r\nHost\r\n\r\n"));
    const id = headers.get("x-request-id") ?? "";
    assert.match(id, uuid);
    const line = await lineOf(id);
    assert.equal(line.status, 400);
  });

  test("no log line contains a body", async () => {
    await server.request("/posts", { body: { title: "Confidential" }, headers: { "x-request-id": "body" } });
    await lineOf("body");
    assert.doesNotMatch(server.portico.output, /Confidential/);
  });

  test("no log line contains a credential, wherever the caller put it", async () => {
    const { key } = await server.command("key", "create", "--name", "Logged", "--scopes", "posts:read");
    const secret = key.slice(12);
    const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl";
    await server.request("/posts", { key });
    await server.request("/posts", { key: null, headers: { "x-api-key": key } });
    await server.request(`/posts?api_key=${key}`);
    await server.request(`/posts/${key}`, { key });
    await server.request(`/posts/Bearer%20${key}`);
    await server.request(`/posts/${token}`);
    await server.request("/posts", { key, body: { title: key } });
    await server.request("/posts", { key, headers: { "x-request-id": key } });
    await server.request("/posts", { key, headers: { "user-agent": key, referer: `https://x/?k=${key}` } });
    await server.request(`/posts/${key.slice(0, 30)}`, { headers: { "x-request-id": "last-of-all" } });
    await lineOf("last-of-all");
    const output = server.portico.output;
    assert.ok(!output.includes(secret.slice(0, 10)), "a part of the key");
    assert.ok(!output.includes(token), "a token");
    assert.match(output, /\[redacted\]/);
  });

  test("the sandbox's key is shown once, in the start message, and in no log line", () => {
    // On a busy machine a log line may precede it.
    const greeting = server.portico.output.replaceAll(/^\{"level".*\n/gm, "");
    assert.ok(greeting.includes(server.portico.key));
    for (const line of lines()) assert.ok(!JSON.stringify(line).includes(server.portico.key));
  });
}

function greeting(server: TestServer): void {
  test("the three curl lines of the start message work when pasted", async () => {
    const commands = [
      ...server.portico.output.matchAll(/^ {2}curl '?([^' ]+)'? -H 'Authorization: Bearer (\S+)'$/gm),
    ];
    assert.equal(commands.length, 3);
    for (const [, url, key] of commands) {
      const response = await fetch(url!, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(response.status, 200);
      assert.ok(Array.isArray(((await response.json()) as { data: unknown }).data));
    }
  });
}

function health(server: TestServer): void {
  test("the health of the process and its database can be read without a key", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const answer = await server.request(path, { key: null });
      expectAnswer(answer, { status: 200 });
      assert.deepEqual(answer.body, { status: "ok" });
    }
  });

  test("an HTTP/1.0 request is answered", async () => {
    const answer = parseAnswer(await exchange(server.url, "GET /healthz HTTP/1.0\r\n\r\n"));
    expectAnswer(answer, { status: 200 });
  });
}

test("the secret of a sandbox is created once, readable by its owner only, like its database", async () => {
  const workspace = await makeWorkspace("sqlite");
  const file = `${workspace.databaseUrl.slice("file:".length)}.secret`;
  try {
    const secrets: string[] = [];
    for (let start = 0; start < 2; start += 1) {
      const portico = await PorticoProcess.start(workspace);
      await portico.stop();
      secrets.push(await readFile(file, "utf8"));
      for (const own of [file, file.replace(/\.secret$/, "")])
        assert.equal((await stat(own)).mode & 0o777, 0o600);
      assert.doesNotMatch(portico.output, new RegExp(secrets[start]!.trim()));
    }
    assert.ok(secrets[0]!.trim().length >= 32);
    assert.equal(secrets[0], secrets[1]);
  } finally {
    await workspace.remove();
  }
});
