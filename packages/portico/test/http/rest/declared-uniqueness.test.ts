// Fields that are unique together, over REST and GraphQL.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { expectError, requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer, runCommand, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/unique");

const conflict = (...fields: string[]) => ({
  status: 409,
  code: "conflict" as const,
  message: new RegExp(`^Another (board|card|cover) already has the same ${fields.join(" and ")}\\.$`),
  details: fields.map((field) => ({ field, issue: "duplicate" as const })),
});

onEachDatabase("fields that are unique together", (database) => {
  const served = serve(database, { cwd });

  test("a second row with the same values is a conflict that names each field", async () => {
    await served.create("/boards", { name: "Same" });
    expectAnswer(await served.request("/boards", { body: { name: "Same" } }), conflict("name", "kind"));
    expectAnswer(await served.request("/boards", { body: { name: "Same", kind: "closed" } }), {
      status: 201,
    });
    const { id } = await served.create("/boards", { name: "Other" });
    const patch = { method: "PATCH", body: { name: "Same" } };
    expectAnswer(await served.request(`/boards/${id}`, patch), conflict("name", "kind"));
    const answer = await requestGraphql(served, 'mutation { createBoard(input: { name: "Same" }) { id } }');
    const { code, details } = conflict("name", "kind");
    expectError(answer, { code, path: ["createBoard"], details });
  });

  test("rows without a value in one of the fields are not compared", async () => {
    for (const name of ["first", "second"]) await served.create("/boards", { name });
    await served.create("/boards", { name: "third", code: "A" });
    expectAnswer(
      await served.request("/boards", { body: { name: "fourth", code: "A" } }),
      conflict("kind", "code"),
    );
  });

  test("values are compared within the parent where its field is listed", async () => {
    const boards = [
      await served.create("/boards", { name: "P" }),
      await served.create("/boards", { name: "Q" }),
    ];
    for (const { id } of boards) await served.create(`/boards/${id}/cards`, { title: "Same" });
    const body = { title: "Same" };
    expectAnswer(
      await served.request(`/boards/${boards[0].id}/cards`, { body }),
      conflict("boardId", "title"),
    );
    const path = `/boards/${boards[0].id}/covers`;
    await served.create(path, { colour: "red" });
    expectAnswer(await served.request(path, { body: { colour: "green" } }), conflict("boardId"));
  });

  test("of many creates at once with the same values, one succeeds", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => served.request("/boards", { body: { name: "At once" } })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  });

  test("another tenant can have the same values", async () => {
    await served.create("/boards", { name: "Everywhere" });
    const run = (...args: string[]) => runCommand(served.workspace, args, { cwd });
    const { tenant } = await run("tenant", "create", "--name", "Elsewhere");
    const { key } = await run(
      "key",
      "create",
      "--name",
      "Theirs",
      "--scopes",
      "boards:read,boards:write",
      "--tenant",
      tenant.id,
    );
    const body = { name: "Everywhere" };
    expectAnswer(await served.request("/boards", { key, body }), { status: 201 });
    expectAnswer(await served.request("/boards", { key, body }), conflict("name", "kind"));
  });
});
