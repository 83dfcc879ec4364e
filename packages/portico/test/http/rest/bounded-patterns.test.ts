// Validating a text takes a bounded time: patterns and formats run only on texts within their length limits.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Detail } from "../../../src/errors.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/bounded");
const long = (length: number): string => `${"a".repeat(length)}!`;

onOneDatabase("patterns and formats", (database) => {
  const server = serve(database, { cwd });

  const refused: readonly (readonly [fact: string, body: object, detail: Detail])[] = [
    [
      "a text longer than its max is not matched against its pattern",
      { code: long(100_000) },
      { field: "code", issue: "max" },
    ],
    ["one character more than max is refused", { code: "a".repeat(21) }, { field: "code", issue: "max" }],
    [
      "a text within its max is matched against its pattern",
      { code: long(15) },
      { field: "code", issue: "format" },
    ],
    [
      "a length counts characters, not UTF-16 code units",
      { code: "\u{1F600}".repeat(20) },
      { field: "code", issue: "format" },
    ],
    [
      "a text longer than its max is not checked against its format",
      { short: `${"a".repeat(900_000)}@example.com` },
      { field: "short", issue: "max" },
    ],
    ["a pattern without max has one of 2,000", { free: "x".repeat(2_001) }, { field: "free", issue: "max" }],
    [
      "an email without max has a limit too",
      { mail: `${"a".repeat(900_000)}@b.c` },
      { field: "mail", issue: "max" },
    ],
    [
      "a URI without max has a limit too",
      { link: `https://a/${"%20".repeat(300_000)}` },
      { field: "link", issue: "max" },
    ],
    [
      "a text inside JSON has a limit of 2,000 too",
      { tags: ["ok", "b".repeat(2_001)] },
      { field: "tags.1", issue: "max" },
    ],
    [
      "a text inside JSON within its limit is matched against its pattern",
      { tags: ["ok", "B"] },
      { field: "tags.1", issue: "format" },
    ],
    [
      "items of a list are compared by value",
      {
        tags: [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      },
      { field: "tags", issue: "duplicate" },
    ],
  ];
  for (const [fact, body, detail] of refused) {
    test(fact, { timeout: 20_000 }, async () => {
      const answer = await server.request("/signs", { body });
      expectAnswer(answer, { status: 422, code: "validation_error", details: [detail] });
    });
  }

  test("texts within their limits are accepted", async () => {
    const body = {
      code: "a".repeat(20),
      free: "\u{1F600}".repeat(2_000),
      mail: "ada@example.com",
      link: "https://example.com/x",
      tags: [["a"], ["b"], { a: 1 }, { a: 2 }, "a", "b"],
      named: { aaa: "short", other: 1 },
    };
    expectAnswer(await server.request("/signs", { body }), { status: 201, body });
  });

  test("a hundred thousand items are compared in time", { timeout: 20_000 }, async () => {
    const tags = Array.from({ length: 60_000 }, (_, number) => [number]);
    assert.equal((await server.request("/signs", { body: { tags } })).status, 201);
  });

  test("a member name longer than a thousand characters is malformed", { timeout: 20_000 }, async () => {
    for (const body of [
      { named: { [long(1_000)]: "x" } },
      { named: { [long(100_000)]: "x" } },
      { [long(1_000)]: "x" },
    ])
      expectAnswer(await server.request("/signs", { body }), { status: 400, code: "malformed_request" });
  });

  test("the same limits apply to GraphQL", { timeout: 20_000 }, async () => {
    const query = "mutation ($input: CreateSignInput!) { createSign(input: $input) { id } }";
    const variables = { input: { code: long(100_000) } };
    const { body } = await server.request("/graphql", { body: { query, variables } });
    assert.deepEqual(body.errors[0].extensions.details, [{ field: "code", issue: "max" }]);
  });
});
