// Invalid input: each gets the one error shape with the right status, never a 500, and changes nothing.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  exchange,
  expectAnswer,
  parseAnswer,
  type Scenario,
  scenarios,
  serve,
} from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const malformed = { status: 400, code: "malformed_request" } as const;

const bodies: readonly Omit<Scenario, "path">[] = [
  ...[
    ["a body that is not JSON", "title=Hello"],
    ["a truncated body", '{"title": "Hello"'],
    ["a body with trailing characters", '{"title": "Hello"} x'],
    ["a body with a trailing comma", '{"title": "Hello",}'],
    ["a body in single quotes", "{'title': 'Hello'}"],
    ["a body with NaN", '{"title": NaN}'],
    ["a body with a line break in a text", '{"title": "a\nb"}'],
    ["an empty body", ""],
    ["a body with a byte order mark", '\ufeff{"title": "Hello"}'],
  ].map(([what, body]) => ({ fact: `${what} is malformed`, body, ...malformed })),
  ...["null", "[]", '"text"', "1", "true"].map((body) => ({
    fact: `a body that is ${body} is not an object`,
    body,
    status: 422,
    code: "validation_error" as const,
    details: [{ field: "", issue: "type" as const }],
  })),
  ...[{ value: 1 }, { value: null }, { value: [] }, { value: {} }, { value: true }].map(({ value }) => ({
    fact: `a title that is ${JSON.stringify(value)} has the wrong type`,
    body: { title: value },
    status: 422,
    details: [{ field: "title", issue: "type" as const }],
  })),
  ...["\\ud800", "a\\udc00b", "\\udc00\\ud800"].map((escaped) => ({
    fact: `a title with the lone surrogate ${escaped} is refused`,
    body: `{"title": "${escaped}"}`,
    status: 422,
    details: [{ field: "title", issue: "format" as const }],
  })),
  {
    fact: "a title with U+0000 is refused",
    body: '{"title": "a\\u0000b"}',
    status: 422,
    details: [{ field: "title", issue: "format" }],
  },
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "a b", "title "].map(
    (name) => ({
      fact: `a member called '${name}' is unknown`,
      body: `{"title": "x", ${JSON.stringify(name)}: {"polluted": true}}`,
      status: 422,
      details: [{ field: name, issue: "unknown" as const }],
    }),
  ),
  ...["id", "createdAt", "updatedAt"].map((name) => ({
    fact: `${name} can only be set by the server`,
    body: { title: "x", [name]: "2026-01-01T00:00:00.000Z" },
    status: 422,
    details: [{ field: name, issue: "read_only" as const }],
  })),
  {
    fact: "the tenant is not a field of any row",
    body: { title: "x", tenantId: "tenant_x" },
    status: 422,
    details: [{ field: "tenantId", issue: "unknown" }],
  },
  {
    fact: "the name of a column is not the name of a field",
    body: { title: "x", author_id: "x" },
    status: 422,
    details: [{ field: "author_id", issue: "unknown" }],
  },
  {
    fact: "all errors of a body are reported at once",
    body: { title: "", body: 1, status: "lost", extra: 1, id: "x" },
    status: 422,
    details: [
      { field: "title", issue: "min" },
      { field: "body", issue: "type" },
      { field: "status", issue: "choice" },
      { field: "extra", issue: "unknown" },
      { field: "id", issue: "read_only" },
    ],
  },
  { fact: "a body 33 levels deep is malformed", body: nested(33), ...malformed, message: /32/ },
  {
    fact: "a body 32 levels deep is validated by its fields",
    body: nested(32),
    status: 422,
    details: [{ field: "", issue: "type" }],
  },
  {
    fact: "a member 33 levels deep is malformed, even if it is unknown",
    body: `{"title": "x", "extra": ${nested(32)}}`,
    ...malformed,
  },
  { fact: "a body that consists of brackets only is malformed", body: nested(400_000), ...malformed },
];

const targets: readonly Scenario[] = [
  ...["/posts/%zz", "/posts/%", "/posts/%E0%A4%A", "/posts/%ff", "/%zz"].map((path) => ({
    fact: `the path ${path} has broken percent-encoding`,
    path,
    ...malformed,
  })),
  ...[
    "/posts/%00",
    "/posts/post_%00",
    "/posts/%00/comments",
    "/v1/posts/post_a%00b/comments",
    "/posts/..%2F..%2Fetc",
    "/posts/%2e%2e/nowhere",
    `/posts/${"x".repeat(500)}`,
  ].map((path) => ({
    fact: `there is nothing at ${path.slice(0, 40)}`,
    path,
    status: 404,
    code: "not_found" as const,
  })),
  ...["status=%zz", "q=%", "%zz=1", "q=%ff", "q=%ED%A0%80"].map((query) => ({
    fact: `the query ${query} has broken percent-encoding`,
    path: `/posts?${query}`,
    ...malformed,
  })),
  ...["authorId=%00", "status=%00"].map((query) => ({
    fact: `no row can have the value of ${query}`,
    path: `/posts?${query}`,
    status: 422,
    code: "validation_error" as const,
  })),
  ...["__proto__", "constructor", "hasOwnProperty", "status[]", "status[gte]", "[gte]", "fields[posts]"].map(
    (name) => ({
      fact: `a parameter called ${name} is unknown`,
      path: `/posts?${encodeURIComponent(name)}=x`,
      status: 422,
      code: "validation_error" as const,
      details: [{ field: name, issue: "unknown" as const }],
    }),
  ),
  {
    fact: "a parameter without a name is unknown",
    path: "/posts?=x",
    status: 422,
    details: [{ field: "", issue: "unknown" }],
  },
  { fact: "empty parts of a query are ignored", path: "/posts?&&limit=1&", status: 200 },
  { fact: "an empty query is ignored", path: "/posts?", status: 200 },
  {
    fact: "more than 100 parameters are malformed",
    path: `/posts?${"limit=1&".repeat(200)}limit=1`,
    ...malformed,
  },
  {
    fact: "the longest parameter name is shortened in the response",
    path: `/posts?${"x".repeat(5_000)}=1`,
    status: 422,
    details: [{ field: "x".repeat(100), issue: "unknown" }],
  },
  {
    fact: "a field named a thousand times is returned once",
    path: `/posts?limit=1&fields=${"title,".repeat(1_000)}title`,
    status: 200,
  },
  {
    fact: "references in a circle end",
    path: `/posts?fields=${"author.".repeat(50)}name`,
    status: 422,
    code: "validation_error",
  },
];

onEachDatabase("bad input", (database) => {
  let before = "";
  const allRows = async () => (await server.request("/posts?limit=100")).text;
  const server = serve(database, {
    prepare: async (at) => {
      before = (await at.request("/posts?limit=100")).text;
    },
  });

  scenarios(
    server,
    bodies.map((scenario) => ({ ...scenario, path: "/posts", method: "POST" })),
  );
  scenarios(server, targets);

  for (const method of ["PUT", "PATCH"]) {
    test(`${method} refuses what POST refuses, and leaves the row unchanged`, async () => {
      const row = JSON.parse(before).data[0];
      for (const { body, status, details } of bodies) {
        // A PATCH may omit any field, so it reports no missing ones; nothing is missing here.
        const answer = await server.request(`/posts/${row.id}`, { method, body });
        expectAnswer(answer, { status, ...(details && { details }) });
      }
      assert.deepEqual((await server.request(`/posts/${row.id}`)).body, row);
    });
  }

  const head = (line: string, ...more: string[]): string =>
    [
      line,
      "Host: x",
      `Authorization: Bearer ${server.portico.key}`,
      "Connection: close",
      ...more,
      "",
      "",
    ].join("\r\n");
  const raw = async (bytes: string | Uint8Array) => parseAnswer(await exchange(server.url, bytes));

  test("a body that is not UTF-8 is malformed", async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"title":"'), Buffer.from(bytes), Buffer.from('"}')]);
      const start = head(
        "POST /posts HTTP/1.1",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      );
      expectAnswer(await raw(Buffer.concat([Buffer.from(start), body])), malformed);
    }
  });

  test("10,000 parameters are refused", async () => {
    const query = Array.from({ length: 10_000 }, (_, number) => `p${number}=1`).join("&");
    expectAnswer(await raw(head(`GET /posts?${query} HTTP/1.1`)), { status: 431, code: "headers_too_large" });
  });

  test("headers larger than 16 KiB are refused", async () => {
    const answer = await raw(head("GET /posts HTTP/1.1", `X-Large: ${"x".repeat(20_000)}`));
    expectAnswer(answer, { status: 431, code: "headers_too_large" });
    const many = Array.from({ length: 3_000 }, (_, number) => `X-${number}: x`);
    expectAnswer(await raw(head("GET /posts HTTP/1.1", ...many)), { status: 431, code: "headers_too_large" });
  });

  test("bytes that are not HTTP are malformed", async () => {
    for (const bytes of [
      "hello\r\n\r\n",
      "GET\r\n\r\n",
      "GET /posts HTTP/9.9\r\nHost: x\r\n\r\n",
      "\u0000\u0001\u0002\r\n\r\n",
    ]) {
      expectAnswer(await raw(bytes), malformed);
    }
  });

  test("a header with a line break inside or a space before the colon is malformed", async () => {
    for (const header of ["X: a\rb", "X : a", "X: a\n b: c\u0000"]) {
      expectAnswer(await raw(head("GET /posts HTTP/1.1", header)), malformed);
    }
  });

  test("two Content-Length headers, or Content-Length with chunks, are malformed, which prevents request smuggling", async () => {
    for (const lengths of [
      ["Content-Length: 2", "Content-Length: 3"],
      ["Content-Length: 2", "Transfer-Encoding: chunked"],
      ["Content-Length: -1"],
      ["Content-Length: 1e3"],
    ]) {
      const start = head("POST /posts HTTP/1.1", "Content-Type: application/json", ...lengths);
      expectAnswer(await raw(`${start}{}`), malformed);
    }
  });

  test("HTTP/1.1 without a host is malformed", async () => {
    expectAnswer(await raw("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"), malformed);
  });

  test("an unknown expectation is ignored", async () => {
    const answer = await raw(head("GET /posts HTTP/1.1", "Expect: a-miracle"));
    expectAnswer(answer, { status: 200 });
  });

  test("a caller who expects 100-continue receives it", async () => {
    const body = '{"title":"Continued"}';
    const start = head(
      "POST /posts HTTP/1.1",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "Expect: 100-continue",
    );
    const received = await exchange(server.url, start + body);
    assert.match(received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    const { id } = JSON.parse(received.slice(received.lastIndexOf("\r\n\r\n")));
    await server.request(`/posts/${id}`, { method: "DELETE" });
  });

  test("after these requests, the posts are unchanged", async () => {
    assert.equal(await allRows(), before);
  });

  after(() => assert.doesNotMatch(server.portico.output, /"level":[56]0/, "an error was logged"));
});
