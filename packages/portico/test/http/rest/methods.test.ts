// Methods (RFC 9110, section 9): those of each path, 405 with Allow for the others, HEAD and OPTIONS everywhere.

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { exchange, expectAnswer, expectErrorShape, parseAnswer, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const collection = ["GET", "HEAD", "POST", "OPTIONS"];
const item = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
const readable = ["GET", "HEAD", "OPTIONS"];

const paths: readonly (readonly [string, readonly string[]])[] = [
  ["/posts", collection],
  ["/v1/posts", collection],
  ["/posts/some-post", item],
  ["/posts/some-post/comments", collection],
  ["/comments/some-comment", item],
  ["/users", collection],
  ["/users/some-user", item],
  ["/v1/projects", collection],
  ["/v1/deployments/some-deployment", item],
  ["/v1/request-logs", readable],
  ["/v1/request-logs/some-request", readable],
  ["/v1/api-keys/some-key/usage", readable],
  ["/healthz", readable],
  ["/readyz", readable],
];

/** fetch sends neither TRACE nor WebDAV methods, so these are sent with `node:http`. */
const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "SEARCH", "LINK"];

onOneDatabase("methods", (database) => {
  const server = serve(database);
  const send = (method: string, path: string): Promise<{ status: number; allow: string; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${server.portico.key}` };
      const sent = httpRequest(server.url + path, { method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode!, allow: response.headers.allow ?? "", text }),
        );
      });
      sent.on("error", reject).end();
    });

  test("CONNECT is refused with 405", async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${server.portico.key}\r\n\r\n`;
    for (const target of ["example.com:443", "/posts"]) {
      const answer = parseAnswer(await exchange(server.url, `CONNECT ${target} HTTP/1.1\r\n${head}`));
      expectAnswer(answer, { status: 405, code: "method_not_allowed" });
      assert.ok(answer.headers.get("allow"));
    }
  });

  for (const [path, allowed] of paths) {
    test(`OPTIONS of ${path} lists its methods`, async () => {
      const { status, allow, text } = await send("OPTIONS", path);
      assert.equal(status, 204);
      assert.equal(text, "");
      assert.deepEqual(allow.split(", ").sort(), [...allowed].sort());
    });

    test(`${path} refuses every other method with 405 and the same list`, async () => {
      for (const method of others.filter((each) => !allowed.includes(each))) {
        const { status, allow, text } = await send(method, path);
        assert.equal(status, 405, method);
        assert.equal(JSON.parse(text).error.code, "method_not_allowed");
        assert.deepEqual(allow.split(", ").sort(), [...allowed].sort(), method);
      }
    });
  }

  test("HEAD responds like GET, without the body", async () => {
    const { id } = await server.create("/posts", { title: "Head" });
    for (const path of ["/posts?limit=2", `/posts/${id}`, "/users", "/healthz"]) {
      const [get, head] = [await server.request(path), await server.request(path, { method: "HEAD" })];
      assert.equal(head.status, 200);
      assert.equal(head.text, "");
      for (const name of ["content-type", "content-length", "etag", "link"])
        assert.equal(head.headers.get(name), get.headers.get(name), `${path}: ${name}`);
    }
  });

  test("HEAD of a missing row, or without a key, responds without a body", async () => {
    const missing = await server.request("/posts/post_00000000000000000000000000", { method: "HEAD" });
    assert.deepEqual([missing.status, missing.text], [404, ""]);
    const unknown = await server.request("/posts", { method: "HEAD", key: null });
    assert.deepEqual([unknown.status, unknown.text], [401, ""]);
  });

  test("GET changes nothing, whatever its headers", async () => {
    const before = (await server.request("/posts?limit=100")).text;
    const { id } = JSON.parse(before).data[0];
    for (const path of [`/posts/${id}`, "/posts?q=x", `/posts/${id}/comments`]) await server.request(path);
    assert.equal((await server.request("/posts?limit=100")).text, before);
  });

  test("an unknown method is a malformed request", async () => {
    const received = await exchange(server.url, "BREW /posts HTTP/1.1\r\nHost: x\r\n\r\n");
    const answer = parseAnswer(received);
    expectAnswer(answer, { status: 400, code: "malformed_request" });
  });

  test("methods are case-sensitive", async () => {
    const answer = parseAnswer(await exchange(server.url, "get /posts HTTP/1.1\r\nHost: x\r\n\r\n"));
    expectAnswer(answer, { status: 400, code: "malformed_request" });
  });

  test("a path that does not exist is 404 with every method", async () => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      const answer = await server.request("/nothing/here", { method, ...(body && { body }) });
      expectAnswer(answer, { status: 404, code: "not_found" });
      expectErrorShape(answer.body, answer.headers);
    }
  });

  test("paths are lower case, complete and without a trailing slash", async () => {
    for (const path of [
      "/Posts",
      "/posts/",
      "/post",
      "/v2/posts",
      "/v1",
      "//posts",
      "/posts/a/b",
      "/events",
    ]) {
      expectAnswer(await server.request(path), { status: 404, code: "not_found" });
    }
  });
});
