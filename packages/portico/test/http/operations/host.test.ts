// The Host header must name one host, or the response is 400; and no URL in a response depends on it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { exchange, expectErrorShape, parseAnswer, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const malformed = [
  ["a.example", "b.example"],
  ["a.example", "a.example"],
  [""],
  ["a b"],
  ["a/b"],
  ["a@b"],
  ["a:b"],
  ["a:80:80"],
  ["http://a"],
  ["[::1"],
  ["[x]"],
  ["a\u00e9"],
  ["x".repeat(300)],
  ["a?b"],
  ["a#b"],
];
const good = [
  "a.example",
  "a.example:8080",
  "127.0.0.1:3000",
  "[::1]:3000",
  "xn--bcher-kva.example",
  "a_b.example",
];

onOneDatabase("hosts", (database) => {
  const server = serve(database);
  const send = async (path: string, hosts: readonly string[], lines: readonly string[] = []) => {
    const named = hosts.map((host) => `Host: ${host}`);
    const head = [`GET ${path} HTTP/1.1`, ...named, "Connection: close", ...lines, "", ""];
    return exchange(server.url, Buffer.from(head.join("\r\n"), "latin1"));
  };

  test("two hosts, or none, are malformed", async () => {
    for (const hosts of malformed)
      for (const path of ["/posts", "/graphql", "/healthz", "/nowhere"]) {
        const answer = parseAnswer(await send(path, hosts));
        assert.equal(answer.status, 400, `${path} ${hosts}`);
        expectErrorShape(answer.body, answer.headers);
        assert.equal(answer.body.error.code, "malformed_request");
      }
  });

  test("the authorization server reports it in its own error shape", async () => {
    for (const hosts of malformed) {
      const { status, body } = parseAnswer(await send("/oauth/jwks", hosts));
      assert.deepEqual([status, body.error], [400, "invalid_request"], String(hosts));
    }
  });

  test("a WebSocket request must have one host too", async () => {
    const lines = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"];
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    const protocol = "Sec-WebSocket-Protocol: graphql-transport-ws";
    const head = ["GET /graphql HTTP/1.1", "Host: a", "Host: b", ...lines, key, protocol, "", ""];
    assert.match(await exchange(server.url, head.join("\r\n")), /^HTTP\/1\.1 400 /);
  });

  test("a target in absolute form changes no link either, however its path is spelled", async () => {
    const key = `Authorization: Bearer ${server.portico.key}`;
    for (const target of ["http://evil.example/posts?limit=1", "http://evil.example/%70osts?limit=1"]) {
      const { status, headers } = parseAnswer(await send(target, ["evil.example"], [key]));
      assert.equal(status, 200, target);
      assert.ok(!(headers.get("link") ?? "").includes("evil"), headers.get("link") ?? "");
    }
    const authorize = await send("http://evil.example/%6Fauth/authorize?client_id=x", ["evil.example"]);
    assert.match(authorize, /^HTTP\/1\.1 400 /);
    assert.ok(!authorize.includes("evil"), authorize);
  });

  test("links and the issuer use the configured URLs, whatever the host", async () => {
    for (const host of good) {
      const { status, body } = parseAnswer(await send("/oauth/.well-known/openid-configuration", [host]));
      assert.equal(status, 200, host);
      assert.equal(body.issuer, `${server.url}/oauth`, host);
      const key = `Authorization: Bearer ${server.portico.key}`;
      const listed = parseAnswer(await send("/posts?limit=1", [host], [key]));
      assert.equal(listed.status, 200);
      assert.ok(!listed.text.includes(host) && !(listed.headers.get("link") ?? "").includes(host), host);
    }
  });
});
