// Limits of operations that settings change, and the cost of an operation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { runCommand, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

onOneDatabase("configured limits", (database) => {
  const server = serve(database, {
    env: {
      PORTICO_GRAPHQL_DEPTH: "2",
      PORTICO_GRAPHQL_COST: "10",
      PORTICO_GRAPHQL_FIELDS: "5",
      PORTICO_GRAPHQL_TOKENS: "40",
    },
  });
  for (const [query, message] of [
    ["{ posts(limit: 1) { author { id } } }", /depth of 3; the limit is 2/],
    ["{ posts(limit: 11) { id } }", /cost of 11; the limit is 10/],
    ["{ posts(limit: 1) { id title body status createdAt } }", /more than 5 fields; the limit is 5/],
    [`{ ${"id ".repeat(41)}}`, /more than 40 tokens; the limit is 40/],
  ] as const) {
    test(`${query.slice(0, 60)} exceeds them`, async () => {
      const { body } = await requestGraphql(server, query);
      assert.match(body.errors[0].message, message);
    });
  }
  test("an operation within them succeeds", async () => {
    assert.equal((await dataOf(server, "{ posts(limit: 10) { id } }")).posts.length, 3);
  });
});

test("a limit that is not a number stops the start with a one-line error", async () => {
  await assert.rejects(
    runCommand({ databaseUrl: "file:/dev/null/x" }, ["schema"], { env: { PORTICO_GRAPHQL_DEPTH: "deep" } }),
    /PORTICO_GRAPHQL_DEPTH is 'deep'; it must be a whole number/,
  );
});

onOneDatabase("cost and quota", (database) => {
  const server = serve(database);

  test("each 100 rows cost a token; an operation that costs too much is 429 and costs none", async () => {
    const words = ["key", "create", "--name", "Small", "--scopes", "posts:read,users:read"];
    const limits = ["--rate-limit", "10", "--rate-window", "86400"];
    const { key } = await runCommand(server.workspace, [...words, ...limits]);
    const remaining = async (query: string) => {
      const answer = await requestGraphql(server, query, { key });
      return [answer.status, answer.headers.get("ratelimit")];
    };
    assert.deepEqual(await remaining("{ posts(limit: 99) { id } }"), [200, '"default";r=9;t=8640']);
    await requestGraphql(server, "{ posts(limit: 100) { author { id } posts: authorId } }", { key });
    const large = "{ posts(limit: 100) { author { posts(first: 10) { id } } } }";
    const refused = await requestGraphql(server, large, { key });
    assert.equal(refused.status, 429);
    assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
    expectError(refused, { code: "rate_limited" });
    assert.match(refused.headers.get("ratelimit") ?? "", /^"default";r=6;/);
    const tokensAfter = async (query: string) =>
      Number(/r=(\d+)/.exec(String((await remaining(query))[1]))?.[1]);
    assert.equal(await tokensAfter("{ posts(limit: 100) { author { id } } }"), 3);
    assert.equal(await tokensAfter("{ __typename }"), 2);
  });
});
