// Errors: one shape, whatever their source.

import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "../../../src/errors.ts";
import { exchange, expectErrorShape, parseAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onOneDatabase } from "../../support/server.ts";

onOneDatabase("errors", (database) => {
  const server = serve(database);

  /** One way to cause each error that a caller can cause. */
  const causes: Readonly<Record<string, () => Promise<Answer>>> = {
    malformed_request: () => server.request("/posts", { body: "{" }),
    invalid_cursor: () => server.request("/posts?cursor=x"),
    credential_in_query: () => server.request("/posts?api_key=x"),
    authentication_required: () => server.request("/posts", { key: null }),
    invalid_credential: () => server.request("/posts", { key: "x" }),
    wrong_environment: () => server.request("/posts", { key: `sk_live_${"a".repeat(43)}` }),
    insufficient_scope: async () => {
      const { key } = await server.command("key", "create", "--name", "Few", "--scopes", "users:read");
      return server.request("/posts", { key });
    },
    not_found: () => server.request("/nowhere"),
    method_not_allowed: () => server.request("/posts", { method: "DELETE" }),
    not_acceptable: () => server.request("/posts", { headers: { accept: "text/html" } }),
    conflict: () => server.request("/users", { body: { name: "Ada", email: "ada@example.com" } }),
    precondition_failed: async () => {
      const { id } = await server.create("/posts", { title: "x" });
      return server.request(`/posts/${id}`, { method: "DELETE", headers: { "if-match": '"x"' } });
    },
    payload_too_large: () => server.request("/posts", { body: "x".repeat(2_000_000) }),
    unsupported_media_type: () =>
      server.request("/posts", { body: "x", headers: { "content-type": "text/plain" } }),
    validation_error: () => server.request("/posts", { body: {} }),
    headers_too_large: async () =>
      parseAnswer(
        await exchange(server.url, `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
      ),
  };

  for (const [code, cause] of Object.entries(causes)) {
    test(`${code} has its status and the one shape`, async () => {
      const answer = await cause();
      assert.equal(answer.body.error.code, code);
      assert.equal(answer.status, catalogue[code as keyof typeof catalogue][0]);
      expectErrorShape(answer.body, answer.headers);
    });
  }

  test("a message says what is wrong, for several errors", async () => {
    const { body } = await server.request("/posts", { body: { title: "", status: "lost", nope: 1 } });
    assert.match(body.error.message, /`title` must not be empty/);
    assert.match(body.error.message, /`status` must be one of draft, published, archived/);
    assert.match(body.error.message, /Unknown field `nope`/);
  });

  test("of very many errors a hundred are reported, and the message stays short", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, number) => [`unknown${number}`, 1]));
    const { status, body } = await server.request("/posts", { body: many });
    assert.equal(status, 422);
    assert.equal(body.error.details.length, 100);
    assert.ok(body.error.message.length < 1_000, `${body.error.message.length} characters`);
  });

  test("an error never reveals internals: no SQL, no file, no stack", async () => {
    for (const cause of Object.values(causes)) {
      assert.doesNotMatch(
        (await cause()).text,
        /insert into|select .* from|sqlite|postgres|node:|\.ts\b|\n +at /i,
      );
    }
  });

  test("an error does not close the connection: the next request on it is answered", async () => {
    const head = (path: string, connection: string) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;
    const received = await exchange(server.url, head("/nowhere", "keep-alive") + head("/healthz", "close"));
    assert.deepEqual(received.match(/HTTP\/1\.1 \d{3}/g), ["HTTP/1.1 404", "HTTP/1.1 200"]);
  });
});
