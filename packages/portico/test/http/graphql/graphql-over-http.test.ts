// GraphQL over HTTP: the audits of graphql-http, media types, methods, GraphiQL, persisted queries.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { serverAudits } from "graphql-http";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const path = "/graphql";
const legacy = "application/json; charset=utf-8";
const modern = "application/graphql-response+json; charset=utf-8";

onOneDatabase("GraphQL over HTTP", (database) => {
  const server = serve(database);

  for (const audit of serverAudits({ url: () => server.url + path, fetchFn: withKey })) {
    test(`audit ${audit.id}: ${audit.name}`, async () => {
      const result = await audit.fn();
      assert.equal(result.status, "ok", "reason" in result ? result.reason : "");
    });
  }
  /** The audits send no credentials, so they are added here. */
  function withKey(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as object), authorization: `Bearer ${server.portico.key}` };
    return fetch(url, { ...init, headers });
  }

  const query = "{ __typename }";
  const ok = { status: 200, answer: { data: { __typename: "Query" } } } as const;
  const accepting = (accept: string) => ({ headers: { accept } });
  scenarios(server, [
    {
      fact: "the response to a query is JSON",
      path,
      body: { query },
      ...ok,
      answerHeaders: { "content-type": legacy },
    },
    {
      fact: "a caller can prefer the media type of GraphQL",
      path,
      body: { query },
      ...accepting("application/graphql-response+json, application/json;q=0.9"),
      ...ok,
      answerHeaders: { "content-type": modern, vary: "Accept" },
    },
    {
      fact: "quality values decide between the media types",
      path,
      body: { query },
      ...accepting("application/graphql-response+json;q=0.1, application/json"),
      ...ok,
      answerHeaders: { "content-type": legacy },
    },
    {
      fact: "a query can be sent with GET",
      path: `${path}?query=${encodeURIComponent("query($id: ID!) { user(id: $id) { name } }")}&variables=${encodeURIComponent('{"id":"x"}')}`,
      status: 200,
      answer: { data: { user: null } },
    },
    {
      fact: "another media type is 406",
      path,
      body: { query },
      ...accepting("text/html"),
      status: 406,
      code: "not_acceptable",
    },
    {
      fact: "a request without a credential is 401, with the error format of REST",
      path,
      body: { query },
      key: null,
      status: 401,
      code: "authentication_required",
    },
    {
      fact: "a request with an invalid credential is 401",
      path,
      body: { query },
      key: `sk_test_${"x".repeat(43)}`,
      status: 401,
      code: "invalid_credential",
    },
    {
      fact: "a GET request without a credential is 401",
      path: `${path}?query=${encodeURIComponent(query)}`,
      key: null,
      status: 401,
      code: "authentication_required",
    },
    {
      fact: "a key in the query string is rejected",
      path: `${path}?query=x&api_key=x`,
      status: 400,
      code: "credential_in_query",
    },
    { fact: "PUT is 405", path, method: "PUT", body: { query }, status: 405, code: "method_not_allowed" },
    {
      fact: "a body that is not JSON is 400, with the error format of REST",
      path,
      body: "{",
      status: 400,
      code: "malformed_request",
    },
    {
      fact: "the path has no version prefix",
      path: "/v1/graphql",
      body: { query },
      status: 404,
      code: "not_found",
    },
    ...["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"].map((type) => ({
      fact: `a media type of forms, '${type}', is 415`,
      path,
      body: JSON.stringify({ query }),
      headers: { "content-type": type },
      status: 415,
      code: "unsupported_media_type" as const,
    })),
  ]);

  test("a mutation with GET is 405 and changes no data", async () => {
    const before = await server.request("/posts");
    const mutation = 'mutation { createPost(input: { title: "By GET" }) { id } }';
    const answer = await server.request(`${path}?query=${encodeURIComponent(mutation)}`);
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get("allow"), "POST");
    assert.equal(answer.body.errors[0].extensions.code, "method_not_allowed");
    assert.equal((await server.request("/posts")).text, before.text);
  });

  for (const [fact, body, message] of [
    ["a batch", [{ query }], /^Batches are not supported\. Send one operation\.$/],
    ["no query", { variables: {} }, /^Missing `query`\.$/],
    ["a query that is not a string", { query: 1 }, /^`query` must be a string\.$/],
    ["variables that are an array", { query, variables: [] }, /^`variables` must be an object\.$/],
    [
      "an unknown operation name",
      { query: "query A { __typename }", operationName: "B" },
      /^Unknown operation named "B"\.$/,
    ],
    [
      "several operations without an operation name",
      { query: "query A { __typename } query B { __typename }" },
      /^The document has several operations\. Select one with `operationName`\.$/,
    ],
    [
      "a document without operations",
      { query: "fragment F on Query { __typename }" },
      /never used|no operation/,
    ],
  ] as const) {
    test(`${fact} is a 400 with the error format of GraphQL`, async () => {
      const answer = await server.request(path, {
        body,
        headers: { accept: "application/graphql-response+json" },
      });
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(Object.keys(answer.body), ["errors"]);
      assert.match(answer.body.errors[0].message, message);
    });
  }

  test("a request keeps its id, as in REST", async () => {
    const answer = await server.request(path, { body: { query }, headers: { "x-request-id": "order-17" } });
    assert.equal(answer.headers.get("x-request-id"), "order-17");
  });

  test("a persisted query is sent once, and identified by its digest from then on", async () => {
    const document = "{ __typename posts(limit: 1) { id } }";
    const persistedQuery = {
      version: 1,
      sha256Hash: createHash("sha256").update(document).digest("hex"),
    };
    const send = (more: object) =>
      server.request(path, { body: { ...more, extensions: { persistedQuery } } });
    const unknown = await send({});
    assert.equal(unknown.body.errors[0].message, "PersistedQueryNotFound");
    assert.equal(unknown.body.errors[0].extensions.code, "not_found");
    const first = await send({ query: document });
    assert.equal(first.body.data.__typename, "Query");
    assert.equal((await send({})).text, first.text);
    const other = await send({ query: "{ __typename }" });
    assert.equal(other.status, 400);
    assert.match(other.body.errors[0].message, /sha256Hash/);
  });

  test("an invalid digest is rejected", async () => {
    for (const sha256Hash of ["", "x", "g".repeat(64), "a".repeat(65), { toString: 1 }]) {
      const body = { extensions: { persistedQuery: { version: 1, sha256Hash } } };
      const answer = await server.request(path, { body });
      assert.equal(answer.status, 400);
      assert.match(answer.body.errors[0].message, /`sha256Hash` of 64 hexadecimal digits/);
    }
  });

  test("a duplicate or badly encoded query parameter is rejected", async () => {
    const named = "query=%7B__typename%7D";
    const wrong = [`${named}&${named}`, "query=%zz", `${named}&variables=%ff`, `${named}&operationName=%`];
    for (const query of wrong) {
      const { status, body } = await server.request(`${path}?${query}`);
      assert.equal(status, 400, query);
      assert.equal(body.errors[0].extensions.code, "malformed_request");
    }
  });

  test("a browser gets GraphiQL without a credential, and loads nothing from other hosts", async () => {
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
    const answer = await fetch(server.url + path, { headers: { accept } });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type")!, /^text\/html/);
    const policy = answer.headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /https?:|\*|script-src[^;]*unsafe/);
    const html = await answer.text();
    assert.doesNotMatch(html, /<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
    assert.doesNotMatch(html, /<script>/);
  });

  test("a POST request that prefers HTML gets JSON", async () => {
    const answer = await server.request(path, {
      body: { query },
      ...accepting("text/html, application/json;q=0.5"),
    });
    expectAnswer(answer, { status: 200, headers: { "content-type": legacy } });
  });
});
