// The cost of introspection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildClientSchema, getIntrospectionQuery, validateSchema } from "graphql";
import { expectError, requestGraphql } from "../../support/graphql/request.ts";
import { runCommand, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

/** The query of GraphiQL and code generators. */
const usualQuery = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});
const schemas = (count: number): string =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: __schema { types { name kind fields { name } } }`).join(" ")} }`;

onOneDatabase("the cost of introspection", (database) => {
  const server = serve(database);

  /** Runs a query with a new key. @returns the tokens it cost */
  async function spend(query: string, tokens: number) {
    const words = ["key", "create", "--name", "Counted", "--scopes", "posts:read"];
    const limits = ["--rate-limit", String(tokens), "--rate-window", "86400"];
    const { key } = await runCommand(server.workspace, [...words, ...limits]);
    const answer = await requestGraphql(server, query, { key });
    const left = Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
    return { answer, spent: tokens - left };
  }

  test("the usual introspection query costs a few tokens, and has the same result each time", async () => {
    const { answer, spent } = await spend(usualQuery, 1_000);
    assert.deepEqual(validateSchema(buildClientSchema(answer.body.data)), []);
    assert.ok(spent >= 2 && spent <= 5, `${spent} tokens`);
    assert.equal((await requestGraphql(server, usualQuery)).text, answer.text);
  });

  test("each __schema and __type field costs a token", async () => {
    assert.equal((await spend(schemas(1), 100)).spent, 2);
    assert.ok((await spend(schemas(70), 1_000)).spent >= 71);
    const types = '{ a: __type(name: "Post") { name } b: __type(name: "None") { name } }';
    assert.equal((await spend(types, 100)).spent, 3);
    assert.equal((await spend("{ __typename }", 100)).spent, 1);
  });

  test("70 of them are 429 if fewer tokens are left", async () => {
    const { answer } = await spend(schemas(70), 50);
    assert.equal(answer.status, 429);
    expectError(answer, { code: "rate_limited" });
  });

  test("the cost in the response includes them", async () => {
    const { body } = await requestGraphql(server, schemas(3), { extensions: { cost: true } });
    assert.equal(body.extensions.cost, 300);
    const { body: refused } = await requestGraphql(server, schemas(251));
    assert.match(refused.errors[0].message, /^The operation has more than 1000 fields|a cost of 25100/);
  });
});
