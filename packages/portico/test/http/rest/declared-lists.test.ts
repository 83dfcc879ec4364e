// Lists: JSON arrays in REST and lists in GraphQL, whose items each have a type and a bound.

import { deepEqual, equal } from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/workshop");

onEachDatabase("fields that are lists", (database) => {
  const server = serve(database, { cwd });
  const tags = ["sharp", "d\u00fcnn", "\u{1F528}"];

  test("a list is returned as it was sent, by REST and GraphQL", async () => {
    const { id } = await server.create("/tools", { name: "Saw", tags, sizes: [3, 1] });
    const { body } = await server.request(`/tools/${id}?fields=tags,sizes`);
    deepEqual(body, { id, tags, sizes: [3, 1] });
    const query = `{ tool(id: "${id}") { tags sizes } }`;
    const answer = await server.request("/graphql", { body: { query } });
    deepEqual(answer.body, { data: { tool: { tags, sizes: [3, 1] } } });
  });

  test("a write replaces the whole list, and null empties an optional one", async () => {
    const { id } = await server.create("/tools", { name: "Saw", tags, sizes: [3] });
    const path = `/tools/${id}`;
    const changed = await server.request(path, { method: "PATCH", body: { tags: ["blunt"], sizes: null } });
    deepEqual([changed.body.tags, changed.body.sizes], [["blunt"], null]);
    const query = `mutation { updateTool(id: "${id}", input: { tags: ["a", "b"] }) { tags } }`;
    const { body } = await server.request("/graphql", { body: { query } });
    deepEqual(body, { data: { updateTool: { tags: ["a", "b"] } } });
  });

  test("GraphQL has the type of the items", async () => {
    const query = `{ __type(name: "Tool") { fields { name type { kind ofType { kind name ofType { kind ofType { name } } } } } } }`;
    const { body } = await server.request("/graphql", { body: { query } });
    const typeOf = (name: string) =>
      body.data.__type.fields.find((field: { name: string }) => field.name === name).type;
    deepEqual(typeOf("tags"), {
      kind: "NON_NULL",
      ofType: { kind: "LIST", name: null, ofType: { kind: "NON_NULL", ofType: { name: "String" } } },
    });
    equal(typeOf("sizes").kind, "LIST");
  });

  const wrong: readonly (readonly [body: object, field: string, issue: "type" | "min" | "max" | "format"])[] =
    [
      [{ tags: "sharp" }, "tags", "type"],
      [{ tags: null }, "tags", "type"],
      [{ tags: { 0: "sharp" } }, "tags", "type"],
      [{ tags: ["a", "b", "c", "d"] }, "tags", "max"],
      [{ tags: [""] }, "tags.0", "min"],
      [{ tags: ["a", "x".repeat(21)] }, "tags.1", "max"],
      [{ tags: ["a", 1] }, "tags.1", "type"],
      [{ tags: [["a"]] }, "tags.0", "type"],
      [{ tags: ["\u0000"] }, "tags.0", "format"],
      [{ sizes: [0] }, "sizes.0", "min"],
      [{ sizes: [1.5] }, "sizes.0", "type"],
      [{ sizes: Array.from({ length: 101 }, () => 1) }, "sizes", "max"],
    ];
  for (const [body, field, issue] of wrong) {
    test(`${JSON.stringify(body).slice(0, 60)} is refused`, async () => {
      const answer = await server.request("/tools", { body: { name: "Saw", ...body } });
      expectAnswer(answer, { status: 422, details: [{ field, issue }] });
    });
  }

  test("a repeated item is refused if items are unique", async () => {
    const answer = await server.request("/tools", { body: { name: "Saw", tags: ["a", "a"] } });
    equal(answer.status, 422);
    equal(answer.body.error.details[0].field, "tags");
  });

  test("a filter by a list is an unknown parameter", async () => {
    expectAnswer(await server.request("/tools?tags=sharp"), {
      status: 422,
      details: [{ field: "tags", issue: "unknown" }],
    });
  });
});
