// Invalid and oversized operations are rejected quickly, with the right error code, and never with a 500. Long because it is
// mainly one table of operations.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const modern = { accept: "application/graphql-response+json" };

const many = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(" ");

interface Bad {
  readonly fact: string;
  readonly query: string;
  readonly code?: string;
  readonly message?: RegExp;
  readonly details?: readonly object[];
  readonly variables?: object;
}

const documents: readonly Bad[] = [
  { fact: "a syntax error", query: "{ posts {", code: "malformed_request", message: /Syntax Error/ },
  { fact: "an empty document", query: "", code: "malformed_request" },
  { fact: "an unpaired surrogate", query: '{ user(id: "\\uD800") { id } }', code: "malformed_request" },
  {
    fact: "an unknown field",
    query: "{ posts { tittle } }",
    message: /Cannot query field "tittle" on type "Post"/,
  },
  { fact: "an unknown argument", query: "{ posts(max: 1) { id } }", message: /Unknown argument "max"/ },
  {
    fact: "an internal field",
    query: "{ apiKeysConnection { edges { node { keyHash } } } }",
    message: /keyHash/,
  },
  {
    fact: "an argument of the wrong type",
    query: '{ posts(limit: "1") { id } }',
    message: /Int cannot represent/,
  },
  {
    fact: "a limit that is not a 32-bit integer",
    query: "{ posts(limit: 99999999999) { id } }",
    message: /Int/,
  },
  { fact: "a missing argument", query: "{ user { id } }", message: /required/ },
  { fact: "an object without a selection set", query: "{ posts }", message: /must have a selection/ },
  {
    fact: "an unknown enum value",
    query: "{ postsConnection(filter: { status: gone }) { edges { cursor } } }",
    message: /PostStatus/,
  },
  {
    fact: "an invalid date",
    query: '{ deploymentsConnection(filter: { createdAtGte: "soon" }) { edges { cursor } } }',
    message: /ISO 8601/,
  },
  { fact: "a missing variable", query: "query ($id: ID!) { user(id: $id) { id } }", message: /\$id/ },
  {
    fact: "a variable of the wrong type",
    query: "query ($n: Int) { posts(limit: $n) { id } }",
    variables: { n: "1" },
    message: /\$n/,
  },
  { fact: "an undeclared variable", query: "{ posts(limit: $n) { id } }", message: /not defined/ },
  {
    fact: "null for a non-null argument",
    query: 'query ($id: ID = "x") { user(id: $id) { id } }',
    variables: { id: null },
    message: /null/,
  },
  { fact: "a type definition", query: "type Post { id: ID }", message: /not executable/ },
  {
    fact: "two operations with the same name",
    query: "query A { __typename } query A { __typename }",
    message: /only one operation named/,
  },
  {
    fact: "a cycle of fragments",
    query: "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    message: /^Cannot spread fragment "\w" within itself\.$/,
    details: [{ field: "depth", issue: "max" }],
  },
  {
    fact: "a depth of 16",
    query: `{ posts { ${"author { posts { ".repeat(7)}id${" } }".repeat(7)} } }`,
    message: /^The operation has a depth of 16; the limit is 15\.$/,
    details: [{ field: "depth", issue: "max" }],
  },
  {
    fact: "a depth of 4,900",
    query: `${"{ a ".repeat(4_900)}${"}".repeat(4_900)}`,
    message: /^The operation has .*more than \d+; the limit is \d+\.$/,
    details: [{ field: "depth", issue: "max" }],
  },
  {
    fact: "a list value with a depth of 4,000",
    query: `{ posts(limit: ${"[".repeat(4_000)}1${"]".repeat(4_000)}) { id } }`,
    message: /^The operation has a depth of more than 15; the limit is 15\.$/,
    details: [{ field: "depth", issue: "max" }],
  },
  {
    fact: "a cost of 25,100",
    query: "{ posts(limit: 100) { comments(first: 50) { post { comments(first: 3) { id } } } } }",
    message: /^The operation has a cost of \d+; the limit is 25000\.$/,
    details: [{ field: "cost", issue: "max" }],
  },
  {
    fact: "a cost of more than 25,000 in a mutation",
    query:
      'mutation { rotateApiKey(id: "x") { owner { posts(first: 100) { author { posts(first: 100) { author { posts(first: 3) { id } } } } } } } }',
    message: /^The operation has a cost of \d+; the limit is 25000\.$/,
    details: [{ field: "cost", issue: "max" }],
  },
  {
    fact: "strings of more than 250 million characters",
    query: "{ posts(limit: 100) { author { posts(first: 30) { body } } } }",
    message: /^The operation has a size of 300000000 characters; the limit is 250000000\.$/,
    details: [{ field: "size", issue: "max" }],
  },
  {
    fact: "1,001 aliases",
    query: `{ ${many(1_001, (index) => `a${index}: __typename`)} }`,
    message: /^The operation has more than 1000 fields; the limit is 1000\.$/,
    details: [{ field: "fields", issue: "max" }],
  },
  {
    fact: "fragments that double the fields thirty times",
    query: `{ ...F0 } ${many(30, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} a${index}: __typename }`)} fragment F30 on Query { __typename }`,
    details: [{ field: "fields", issue: "max" }],
  },
  {
    fact: "the same field 400 times",
    query: `{ ${many(400, () => "posts { id }")} }`,
    details: [{ field: "comparisons", issue: "max" }],
  },
  {
    fact: "400 fragments in one selection set",
    query: `{ ${many(400, (index) => `...F${index}`)} } ${many(400, (index) => `fragment F${index} on Query { posts { id } }`)}`,
    details: [{ field: "fragments", issue: "max" }],
  },
  {
    fact: "a document of more than 131,072 characters",
    query: `{ __typename } #${"x".repeat(131_072)}`,
    message: /^The document has 131088 characters; the limit is 131072\.$/,
    details: [{ field: "characters", issue: "max" }],
  },
  {
    fact: "51 operations",
    query: many(51, (index) => `query O${index} { __typename }`),
    message: /^The document has 51 operations; the limit is 50\.$/,
    details: [{ field: "operations", issue: "max" }],
  },
  {
    fact: "251 fragments",
    query: `{ ...F0 } ${many(251, (index) => `fragment F${index} on Query { __typename }`)}`,
    message: /^The document has 251 fragments; the limit is 250\.$/,
    details: [{ field: "fragments", issue: "max" }],
  },
  {
    fact: "an alias of 1,001 characters",
    query: `{ ${"x".repeat(1_001)}: __typename }`,
    message: /^The document has a name of 1001 characters; the limit is 1000\.$/,
    details: [{ field: "name", issue: "max" }],
  },
  {
    fact: "101 nested selection sets",
    query: `{ ${"... { ".repeat(100)} __typename ${"}".repeat(100)} }`,
    message: /^The operation has 101 nested selection sets; the limit is 100\.$/,
    details: [{ field: "nesting", issue: "max" }],
  },
  {
    fact: "repeated fields in repeated fields",
    query: `{ ${many(20, () => `posts { ${many(15, () => "author { id }")} }`)} }`,
    message: /^The operation has more than 30000 pairs of fields to compare; the limit is 30000\.$/,
    details: [{ field: "comparisons", issue: "max" }],
  },
  {
    fact: "response names of more than 8 MiB",
    query: `{ posts(limit: 100) { ${many(100, (index) => `${"x".repeat(900)}${index}: id`)} } }`,
    message: /^The operation has \d+ characters of names in its result; the limit is 8388608\.$/,
    details: [{ field: "names", issue: "max" }],
  },
  {
    fact: "more than 8 MiB of introspection",
    query: `{ __schema { types { fields { type { ofType { ofType { ofType { fields { ${many(900, (index) => `${"n".repeat(60)}${index}: description`)} } } } } } } } } }`,
    message: /^The result of introspection has more than 8388608 characters\.$/,
    details: [{ field: "__schema", issue: "max" }],
  },
  {
    fact: "10,001 values of variables",
    query: "query ($f: PostFilter) { postsConnection(filter: $f) { edges { cursor } } }",
    variables: { f: { authorId: Array.from({ length: 10_000 }, () => "u") } },
    code: "malformed_request",
    message: /^`variables` has more than 10000 values\.$/,
  },
  {
    fact: "10,001 tokens",
    query: `{ posts ${"@skip(if: true)".repeat(1_700)} { id } }`,
    message: /^The operation has more than 10000 tokens; the limit is 10000\.$/,
    details: [{ field: "tokens", issue: "max" }],
  },
  {
    fact: "a thousand directives",
    query: `{ __typename ${"@a ".repeat(1_000)} }`,
    message: /Unknown directive/,
  },
  {
    fact: "a thousand unknown fields",
    query: `{ ${many(999, (index) => `postz${index}`)} }`,
    message: /Cannot query field/,
  },
  {
    fact: "a thousand variables",
    query: `query (${many(1_000, (index) => `$v${index}: Int`)}) { __typename }`,
    message: /never used/,
  },
  {
    fact: "introspection of introspection",
    query:
      "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }",
    message: /introspection depth/,
  },
];

onOneDatabase("invalid GraphQL operations", (database) => {
  const server = serve(database);

  for (const { fact, query, code = "validation_error", variables, ...expected } of documents) {
    // Without the limits, these documents would take minutes.
    test(`${fact} is rejected quickly`, { timeout: 30_000 }, async () => {
      const answer = await requestGraphql(server, query, {
        headers: modern,
        ...(variables && { variables }),
      });
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(Object.keys(answer.body), ["errors"]);
      assert.ok(answer.body.errors.length <= 21, "the number of reported errors is limited");
      expectError(answer, { code, ...expected });
    });
  }

  test("with the media type application/json, the status is 200", async () => {
    const answer = await requestGraphql(server, "{ posts { tittle } }");
    assert.equal(answer.status, 200);
    expectError(answer, { code: "validation_error" });
  });

  test("operations at the limits succeed", async () => {
    const inner = `${"author { posts(first: 1) { ".repeat(6)}author { id }${" } }".repeat(6)}`;
    const { posts } = await dataOf(server, `{ posts(limit: 1) { ${inner} } }`);
    assert.ok(posts[0].author.posts[0].author.posts[0].author);
    await dataOf(server, `{ ${many(1_000, (index) => `a${index}: __typename`)} }`);
    await dataOf(server, "{ posts(limit: 100) { comments(first: 100) { id author { id } } } }");
  });

  test("variables of almost 1 MiB are accepted, and larger bodies are 413", async () => {
    const padded = (size: number) => ({ variables: { unused: "x".repeat(size) } });
    assert.deepEqual(await dataOf(server, "{ __typename }", padded(1_000_000)), { __typename: "Query" });
    assert.equal((await requestGraphql(server, "{ __typename }", padded(1_100_000))).status, 413);
  });

  test("strings that cannot be stored are rejected or match nothing", async () => {
    const query =
      "query ($text: String!, $id: ID!) { search(q: $text) { __typename } user(id: $id) { id } node(id: $id) { id } }";
    for (const text of ["\u0000", "\ud800", "'; drop table posts; --", "\\", "%", '"']) {
      const answer = await requestGraphql(server, query, { variables: { text, id: text } });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body.data.user, null);
      const filtered = await requestGraphql(
        server,
        "query ($text: String!) { usersConnection(filter: { email: [$text] }) { edges { cursor } } }",
        { variables: { text } },
      );
      assert.ok(filtered.status === 200 && !filtered.text.includes("internal_error"), filtered.text);
    }
  });

  test("no document and no JSON body causes a 5xx", async () => {
    const words = [
      "{",
      "}",
      "(",
      ")",
      "posts",
      "id",
      ":",
      "$a",
      "@skip",
      "...",
      "on",
      "Post",
      '"',
      "query",
      "1",
      "!",
    ];
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((parts) => parts.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.jsonValue(), fc.boolean(), async (query, json, isWhole) => {
        const body = isWhole ? JSON.stringify(json) : { query, variables: json, extensions: json };
        const answer = await server.request("/graphql", { body, headers: modern });
        assert.ok(answer.status < 500, `${JSON.stringify(body)}: ${answer.text}`);
        assert.ok(answer.body.errors || answer.body.data || answer.body.error, answer.text);
      }),
      { numRuns: 400 },
    );
  });
});
