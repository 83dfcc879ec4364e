// Receivers that answer with anything but what they should, and values that are hostile to them.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { before, test } from "node:test";
import fc from "fast-check";
import { onEachDatabase } from "../support/server.ts";
import { verify } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

interface Answering {
  readonly path: string;
  readonly respond: (response: ServerResponse) => void;
  /** The status, or a pattern of the error of an attempt without a response. */
  readonly outcome: number | RegExp;
  readonly response?: string;
}

/** Writes bytes, and leaves the connection open. */
const open =
  (...parts: readonly string[]) =>
  (response: ServerResponse) =>
    void response.req.socket.write(parts.join(""), "latin1");
/** Writes bytes, and closes the connection. */
const raw =
  (...parts: readonly string[]) =>
  (response: ServerResponse) =>
    void response.req.socket.end(parts.join(""), "latin1");
const head = (status: string, ...lines: readonly string[]) =>
  `HTTP/1.1 ${status}\r\n${[...lines, "\r\n"].join("\r\n")}`;
const timedOut = /did not respond within 1000 ms/;

const answers: readonly Answering[] = [
  {
    path: "/endless",
    respond: (response) => {
      const fill = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.writeHead(200).on("drain", fill);
      fill();
    },
    outcome: 200,
    response: "x".repeat(1024),
  },
  {
    path: "/gigabyte",
    respond: open(head("200 OK", "content-length: 1073741824"), "x".repeat(2000)),
    outcome: 200,
    response: "x".repeat(1024),
  },
  { path: "/silent", respond: () => {}, outcome: timedOut },
  { path: "/headers", respond: open("HTTP/1.1 200 OK\r\nx: y\r\n"), outcome: timedOut },
  {
    path: "/many-headers",
    respond: raw("HTTP/1.1 200 OK\r\n", "x: yyyyyyyyyyyyyyyy\r\n".repeat(2000)),
    outcome: /overflow/i,
  },
  {
    path: "/interim",
    respond: raw("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50), head("204 No Content")),
    outcome: 204,
  },
  { path: "/only-interim", respond: open("HTTP/1.1 100 Continue\r\n\r\n"), outcome: timedOut },
  {
    path: "/switching",
    respond: open(head("101 Switching Protocols", "connection: upgrade", "upgrade: x")),
    outcome: /./,
  },
  { path: "/garbage", respond: raw("what?\r\n\r\n"), outcome: /Parse Error/ },
  {
    path: "/reset",
    respond: (response) => void response.req.socket.resetAndDestroy(),
    outcome: /ECONNRESET|hang up/,
  },
  { path: "/closed", respond: (response) => void response.req.socket.end(), outcome: /ECONNRESET|hang up/ },
  { path: "/status-0", respond: raw(head("000 Zero", "content-length: 0")), outcome: /./ },
  { path: "/status-999", respond: raw(head("999 Odd", "content-length: 0")), outcome: 999 },
  {
    path: "/redirect",
    respond: raw(head("307 T", "location: http://169.254.169.254/", "content-length: 0")),
    outcome: 307,
  },
  {
    path: "/binary",
    respond: raw(head("200 OK", "content-length: 4"), "a\x00\xff\xfe"),
    outcome: 200,
    response: "a\ufffd\ufffd\ufffd",
  },
  {
    path: "/truncated",
    respond: (response) =>
      void response
        .writeHead(200, { "content-length": "10" })
        .write("abc", () => response.req.socket.destroy()),
    outcome: 200,
    response: "abc",
  },
  {
    path: "/encoded",
    respond: raw(head("200 OK", "content-encoding: gzip", "content-length: 3"), "abc"),
    outcome: 200,
    response: "abc",
  },
  ...["-1", "soon", "1e99", "99999999999999999999", "\x01"].map((value, index) => ({
    path: `/retry-after-${index}`,
    respond: raw(`HTTP/1.1 503 Busy\r\nretry-after: ${value}\r\ncontent-length: 0\r\n\r\n`),
    outcome: value === "\x01" ? /./ : 503,
  })),
];

onEachDatabase("receivers of webhooks", (database) => {
  const env = { PORTICO_WEBHOOK_SCHEDULE: "0,3600", PORTICO_WEBHOOK_TIMEOUT: "1" };
  const { server, receiver, endpointAt } = serveWebhooks(database, { env });
  before(() => {
    const byPath = new Map(answers.map(({ path, respond }) => [path, respond]));
    receiver.respond = (response, { path }) => {
      const respond = byPath.get(path);
      if (respond) respond(response);
      else response.writeHead(204).end();
    };
  });

  test("whatever they answer, an attempt ends, with its outcome", async () => {
    const tried = answers.map(async ({ path, outcome, response = null }) => {
      const { id } = await endpointAt(path, ["comment.created"]);
      const { body, status, text } = await server.request(`/v1/webhook-endpoints/${id}/tests`, {
        method: "POST",
      });
      assert.equal(status, 201, text);
      assert.equal(body.attempts, 1, path);
      if (typeof outcome === "number") assert.equal(body.lastStatus, outcome, path);
      else assert.match(body.lastError ?? "", outcome, path);
      if (response === null) return;
      const attempts = await server.request(`/v1/webhook-deliveries/${body.id}/attempts`);
      assert.equal(attempts.body.data[0].response, response, path);
    });
    await Promise.all(tried);
  });

  test("every text arrives as the API shows it, and is signed", async () => {
    const { id, secret } = await endpointAt("/texts");
    const textOf = fc.string({ unit: "binary", minLength: 1, maxLength: 60 });
    const titles = fc.sample(textOf, 40);
    const known = [
      "\u2028\u2029",
      '"}],"id":"x"',
      "</script>",
      "\r\nwebhook-id: x",
      "\u0001\u001f\u007f",
      "𝄞é",
    ];
    const created = new Map<string, unknown>();
    for (const title of [...known, ...titles]) {
      const { status, body } = await server.request("/posts", { body: { title } });
      assert.ok(status === 201 || status === 422, title);
      if (status === 201) created.set(body.id, body);
    }
    assert.ok(created.size >= known.length);
    const received = await receiver.waitFor("/texts", created.size);
    for (const each of received) {
      verify(secret, each);
      assert.deepEqual(each.body.data, created.get(each.body.data.id));
    }
    assert.equal(new Set(received.map(({ body }) => body.data.id)).size, created.size);
    await server.request(`/v1/webhook-endpoints/${id}`, { method: "DELETE" });
  });
});
