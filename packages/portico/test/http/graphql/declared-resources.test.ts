// GraphQL for declared resources with policies, hooks and unusual field names.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { runCommand, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("GraphQL of declared resources", (database) => {
  const server = serve(database, { cwd: resolve(import.meta.dirname, "../../fixtures/workshop") });

  test("a row that a policy hides is null in references and missing from lists", async () => {
    const words = [
      "user",
      "create",
      "--name",
      "Mary",
      "--email",
      "mary@example.com",
      "--password",
      "correct horse",
    ];
    const options = { cwd: resolve(import.meta.dirname, "../../fixtures/workshop") };
    const { user: mary } = await runCommand(server.workspace, words, options);
    const scopes = "diaries:read,diaries:write,diary-pages:read,diary-pages:write,users:read";
    const named = ["key", "create", "--name", "Hers", "--scopes", scopes, "--user", mary.id];
    const { key } = await runCommand(server.workspace, named, options);
    const created = await dataOf(
      server,
      'mutation { createDiary(input: { text: "Hers" }) { id owner { name } } }',
      { key },
    );
    const { id } = created.createDiary;
    const page = await dataOf(
      server,
      `mutation { createDiaryPage(input: { diaryId: "${id}", text: "One" }) { id diary { text } } }`,
      { key },
    );
    assert.deepEqual(page.createDiaryPage.diary, { text: "Hers" });
    const query = `{ diaryPage(id: "${page.createDiaryPage.id}") { text diary { text } } diaries { text } diary(id: "${id}") { text } }`;
    const theirs = { diaryPage: { text: "One", diary: null }, diaries: [], diary: null };
    assert.deepEqual(await dataOf(server, query), theirs);
    const expected = {
      diaryPage: { text: "One", diary: { text: "Hers" } },
      diaries: [{ text: "Hers" }],
      diary: { text: "Hers" },
    };
    assert.deepEqual(await dataOf(server, query, { key }), expected);
    expectError(
      await requestGraphql(server, `mutation { updateDiary(id: "${id}", input: { text: "Mine" }) { id } }`),
      {
        code: "not_found",
      },
    );
    expectError(
      await requestGraphql(
        server,
        `mutation { createDiary(input: { text: "Hers", ownerId: "${mary.id}" }) { id } }`,
      ),
      {
        code: "forbidden",
      },
    );
  });

  test("in the sandbox, an error of a hook is returned without its stack", async () => {
    const { createTool } = await dataOf(server, 'mutation { createTool(input: { name: "Saw" }) { id } }');
    const answer = await requestGraphql(
      server,
      `mutation { createUse(input: { toolId: "${createTool.id}", purpose: "crash" }) { id } }`,
    );
    assert.equal(answer.status, 200);
    const message = /^In the hook after\.create of use: Error: on purpose, with sk_test_\[redacted\], at /;
    expectError(answer, { code: "internal_error", message });
    assert.doesNotMatch(answer.text, /sk_test_inside|stack/);
    const forbidden = await requestGraphql(
      server,
      `mutation { createUse(input: { toolId: "${createTool.id}", purpose: "forbidden" }) { id } }`,
    );
    expectError(forbidden, { code: "forbidden", message: /Not for this purpose/ });
  });

  test("fields can have names of Object.prototype", async () => {
    const { createOddity } = await dataOf(
      server,
      'mutation { createOddity(input: { constructor: "x" }) { constructor toString valueOf hasOwnProperty } }',
    );
    assert.deepEqual(Object.entries(createOddity), [
      ["constructor", "x"],
      ["toString", "none"],
      ["valueOf", null],
      ["hasOwnProperty", false],
    ]);
    const { page } = await dataOf(
      server,
      '{ page: odditiesConnection(filter: { constructor: ["x"] }, sort: TO_STRING_ASC) { edges { node { constructor } } } }',
    );
    assert.deepEqual(page.edges, [{ node: { constructor: "x" } }]);
  });
});
