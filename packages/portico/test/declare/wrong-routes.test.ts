// Routes whose declaration is wrong: each stops the start with one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import {
  belongsTo,
  choice,
  computedStatus,
  integer,
  json,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { type Route, route } from "../../src/declare/route.ts";
import { OperatorError } from "../../src/errors.ts";
import { composeApp } from "../../src/runtime/compose.ts";
import { completeSettings } from "../../src/runtime/settings/settings.ts";
import { title } from "./refused-declarations.ts";

const posts = resource("post", { fields: { title }, actions: {} });
const elsewhere = resource("elsewhere", { fields: { title } });

/** Declares a route without type checks, as JavaScript does. */
const declareUntyped = route as unknown as (path: unknown, declaration: object, handler?: unknown) => Route;
const handler = () => ({});

function refusal(path: unknown, declaration: object = { scope: "a:read" }, code: unknown = handler): string {
  const routes = [declareUntyped(path, declaration, code)];
  try {
    composeApp(app({ name: "Wrong", resources: [posts], routes }), completeSettings({}, {}));
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error));
    return error.message;
  }
  return "";
}

test("a route at a path that is taken or reserved is refused", () => {
  for (const [path, remedy] of [
    ["GET /v1/posts", "its path is taken by listPosts; choose another"],
    ["GET /v1/posts/{name}", "its path is taken by getPost; choose another"],
    ["PATCH /v1/posts/{id}", "its path is taken by updatePost; choose another"],
    ["POST /v1/webhook-endpoints/{key}/tests", "its path is taken by testWebhookEndpoint; choose another"],
    ["GET /v1/graphql", "graphql is a path of the server's own; choose another"],
    ["GET /v1/me", "me is a path of the server's own; choose another"],
    ["POST /v1/events/replays", "events is a path of the server's own; choose another"],
    ["GET /v1/oauth/more", "oauth is a path of the server's own; choose another"],
    ["GET /v1/metrics", "metrics is a path of the server's own; choose another"],
    ["GET /v1/v2/more", "v2 is a path of the server's own; choose another"],
  ])
    assert.equal(refusal(path), `route ${path}: ${remedy}`);
  const stats = route("GET /v1/stats", { scope: null }, () => {});
  const twice = app({ name: "Wrong", resources: [], routes: [stats, stats] });
  assert.throws(() => composeApp(twice, completeSettings({}, {})), {
    message: "route GET /v1/stats: its path is taken by getStats; choose another",
  });
  assert.equal(refusal("GET /v1/posts/{id}/stats"), "");
  assert.equal(refusal("GET /v2/posts"), "");
  assert.equal(refusal("DELETE /v1/posts"), "");
});

test("a path that is not written as it should be is refused", () => {
  const bad = [
    "",
    "GET",
    "GET stats",
    "GET /stats",
    "get /v1/stats",
    "HEAD /v1/stats",
    "GET /v1",
    "GET /v1/",
  ];
  bad.push(
    "GET /v1/Stats",
    "GET /v1/{id}",
    "GET /v1/stats/",
    "GET /v1//stats",
    "GET /v1/a?b",
    "GET /v1/a/:id",
  );
  bad.push(
    "GET /v1/a/{Id}",
    "GET /v1/a/{id}x",
    "GET /v1/a/*",
    "GET  /v1/a",
    "GET /v1/a/..",
    `GET /v1/${"a".repeat(200)}`,
  );
  for (const path of [...bad, 3, undefined, null])
    assert.match(
      refusal(path),
      /^route .*: write the method, the version and the path in lowercase/,
      String(path),
    );
});

const stats = "POST /v1/stats/{id}";
for (const [fact, declaration, remedy] of [
  [
    "nothing about who may call it",
    {},
    'say who may call it: scope: "projects:read", scope: null for any secret credential, or public: true',
  ],
  [
    "a scope and public",
    { scope: "a:read", public: true },
    "is public, so nobody needs a scope; remove one of the two",
  ],
  [
    "no scope and public",
    { scope: null, public: true },
    "is public, so nobody needs a scope; remove one of the two",
  ],
  ["public that is a text", { public: "yes" }, "public is true, or left out"],
  ["the scope *", { scope: "*" }, "the scope '*' is not valid; write it like projects:read"],
  ["a scope with a space", { scope: "a b" }, "the scope 'a b' is not valid; write it like projects:read"],
  ["an empty scope", { scope: "" }, "the scope '' is not valid; write it like projects:read"],
  [
    "an unknown option",
    { scope: null, body: {} },
    "unknown option body; use some of scope, public, parameters, query, input, answer, status, idempotencyKey, mcp, description, deprecated",
  ],
  ["a status of an error", { scope: null, status: 404 }, "status is a number from 200 to 299"],
  [
    "an answer with status 204",
    { scope: null, status: 204, answer: { title } },
    "an answer with status 204 is empty; remove one of the two",
  ],
  [
    "a parameter that the path lacks",
    { scope: null, parameters: { key: text() } },
    "the path has no parameter {key}; add it there, or declare it in query",
  ],
  [
    "an optional parameter",
    { scope: null, parameters: { id: text({ optional: true }) } },
    "parameters, id: a part of the path is always given",
  ],
  [
    "a parameter of JSON",
    { scope: null, parameters: { id: json() } },
    "parameters, id: has one of the kinds text, integer, number, boolean, choice, id, date, timestamp, decimal, belongsTo",
  ],
  [
    "a query with a computed status",
    { scope: null, query: { state: computedStatus("a", [{ status: "b", from: "at" }]) } },
    "query, state: has one of the kinds text, integer, number, boolean, choice, id, date, timestamp, decimal, belongsTo, list",
  ],
  [
    "input that is unique",
    { scope: null, input: { title: text({ unique: true }) } },
    "input, title: is not stored; remove unique",
  ],
  [
    "input that is internal",
    { scope: null, input: { title: text({ internal: true }) } },
    "input, title: is not stored; remove internal",
  ],
  [
    "input that is no field",
    { scope: null, input: { title: "text" } },
    "input, title: write it with text(), integer(), choice() or another kind",
  ],
  [
    "a name in capitals",
    { scope: null, input: { Title: text() } },
    "input, Title: write the name as one word in camelCase, for example dueAt",
  ],
  [
    "a choice without choices",
    { scope: null, input: { kind: choice([]) } },
    "input, kind: add at least one choice",
  ],
  [
    "an answer with a default",
    { scope: null, answer: { count: integer({ default: 1 }) } },
    "answer, count: the handler returns the value; remove default, or make it optional",
  ],
  [
    "a reference to a resource outside the app",
    { scope: null, input: { into: belongsTo(() => elsewhere) } },
    "into: refers to elsewhere, which the app does not list; add it to resources",
  ],
  [
    "an Idempotency-Key that is optional",
    { scope: null, idempotencyKey: "optional" },
    'idempotencyKey is "required", for POST and PATCH, or left out',
  ],
  [
    "an invalid deprecation",
    { scope: null, deprecated: { since: "soon" } },
    "deprecated.since and .sunset are ISO dates, 2027-01-31",
  ],
] as const)
  test(`${fact} is refused`, () => {
    const separator = fact.startsWith("a reference") ? ", " : ": ";
    assert.equal(refusal(stats, declaration), `route ${stats}${separator}${remedy}`);
  });

test("what a method cannot have is refused, and a route without a function", () => {
  const input = { at: timestamp() };
  for (const method of ["GET", "DELETE"])
    assert.equal(
      refusal(`${method} /v1/stats`, { scope: null, input }),
      `route ${method} /v1/stats: ${method} has no body; declare its values in query`,
    );
  assert.equal(
    refusal("PUT /v1/stats", { scope: null, idempotencyKey: "required" }),
    'route PUT /v1/stats: idempotencyKey is "required", for POST and PATCH, or left out',
  );
  assert.equal(
    refusal("PUT /v1/stats/{a}/{a}"),
    "route PUT /v1/stats/{a}/{a}: a parameter occurs twice in the path",
  );
  assert.equal(
    refusal("PUT /v1/stats", { scope: null }, null),
    "route PUT /v1/stats: its third argument is a function that returns the answer",
  );
});

test("a role may name the scope of a route, and no other", () => {
  const routes = [route("GET /v1/stats", { scope: "stats:read" }, () => {})];
  const compose = (scope: string) => {
    const roles = { owner: "*", member: [scope] } as const;
    return composeApp(app({ name: "Roles", resources: [posts], routes, roles }), completeSettings({}, {}))
      .model;
  };
  assert.ok(compose("stats:read").roles[1]!.scopes.has("stats:read"));
  assert.throws(() => compose("stats:write"), /the role member names unknown scopes: stats:write/);
  // A resource keeps the id of its operation.
  const taken = [route("GET /v1/post", { scope: null }, () => {})];
  const { model } = composeApp(
    app({ name: "Ids", resources: [posts], routes: taken }),
    completeSettings({}, {}),
  );
  const ids = model.operations.map(({ id }) => id);
  assert.deepEqual([ids.includes("getPost"), ids.at(-1)], [true, "getPost_"]);
});
