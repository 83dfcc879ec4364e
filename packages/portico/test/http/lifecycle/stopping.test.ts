// Stopping: SIGTERM completes the requests in progress and accepts no new ones, and unfinished requests time out.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, parseAnswer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, PorticoProcess } from "../../support/server.ts";

/** A stop waits at most 10 seconds for what is in progress: less shows that it did not wait. */
const stopTimeoutMs = 8_000;

onEachDatabase("stopping", (database) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal} completes the requests in progress, keeps what they wrote, and exits with 0`, async () => {
      const workspace = await makeWorkspace(database);
      const server = await PorticoProcess.start(workspace);
      const { key } = server;
      const created = Array.from({ length: 50 }, (_, number) =>
        server.request("/posts", { body: { title: `Post ${number}` } }).then(
          ({ status, body }) => ({ status, id: body.id as string }),
          // Refused at the connection: the server had stopped listening.
          () => undefined,
        ),
      );
      await Promise.race(created);
      const stopped = server.stop(signal);
      const answers = await Promise.all(created);
      assert.equal(await stopped, 0);
      const acknowledged = answers.filter((answer) => answer !== undefined);
      assert.ok(acknowledged.length > 0);
      assert.ok(acknowledged.every(({ status }) => status === 201));

      const again = await PorticoProcess.start(workspace, { key });
      try {
        for (const { id } of acknowledged) assert.equal((await again.request(`/posts/${id}`)).status, 200);
      } finally {
        await again.stop();
        await workspace.remove();
      }
    });
  }

  test("a second signal ends the process at once", async () => {
    const workspace = await makeWorkspace(database);
    const server = await PorticoProcess.start(workspace);
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    // An incomplete request keeps the process waiting.
    socket.on("error", () => {}).write("GET /posts HTTP/1.1\r\nHost: ");
    await sleep(100);
    const stopped = server.stop("SIGINT");
    await sleep(300);
    process.kill(server.pid, "SIGTERM");
    const began = Date.now();
    assert.equal(await stopped, null);
    assert.ok(Date.now() - began < stopTimeoutMs);
    await workspace.remove();
  });

  test("a request whose body is still arriving at SIGTERM is completed", async () => {
    const workspace = await makeWorkspace(database);
    const server = await PorticoProcess.start(workspace);
    const { hostname, port } = new URL(server.url);
    const body = JSON.stringify({ title: "Slow but whole" });
    const socket = connect({ host: hostname, port: Number(port) });
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk) => (received += chunk));
    socket.write(
      `POST /posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await sleep(100);
    const stopped = server.stop();
    await sleep(100);
    const answered = Date.now();
    socket.write(body.slice(5));
    await once(socket, "close");
    assert.match(received, /^HTTP\/1\.1 201 /);
    assert.equal(await stopped, 0);
    assert.ok(Date.now() - answered < stopTimeoutMs, "the connection is closed once it is answered");
    assert.match(server.output, /stopping/);
    await workspace.remove();
  });

  test("no connection is accepted after SIGTERM, and idle connections do not delay the end", async () => {
    const workspace = await makeWorkspace(database);
    const server = await PorticoProcess.start(workspace);
    const { hostname, port } = new URL(server.url);
    const idle = connect({ host: hostname, port: Number(port) });
    await once(idle, "connect");
    const began = Date.now();
    assert.equal(await server.stop(), 0);
    assert.ok(Date.now() - began < stopTimeoutMs, `it took ${Date.now() - began} ms`);
    await assert.rejects(fetch(`${server.url}/healthz`));
    assert.match(server.output, /"msg":"stopped"/);
    await workspace.remove();
  });
});

// The result does not depend on the database, and the test lasts as long as the timeout.
test("a caller who never ends its headers gets 408, and others are served in the meantime", async () => {
  const workspace = await makeWorkspace("sqlite");
  const server = await Portico.start(workspace);
  try {
    const began = Date.now();
    // The timeout for headers is 10 s, checked every 2 s.
    const slow = Promise.all(
      Array.from({ length: 20 }, () => exchange(server.url, "GET /posts HTTP/1.1\r\nX-Slow: ", 15_000)),
    );
    while (Date.now() - began < 1_000) assert.equal((await server.request("/healthz")).status, 200);
    for (const received of await slow) {
      const answer = parseAnswer(received);
      assert.equal(answer.status, 408);
      assert.equal(answer.body.error.code, "request_timeout");
    }
  } finally {
    await server.stop();
    await workspace.remove();
  }
});
