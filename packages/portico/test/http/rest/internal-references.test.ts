// A reference that is internal is in no answer: neither its id, nor the row to which it leads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app, belongsTo, manyToMany, resource, text, users } from "../../../src/index.ts";
import { callTool, connect, textOf } from "../../support/mcp.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const labels = resource("label", { fields: { name: text({ max: 50 }) } });
const letters = resource("letter", {
  fields: {
    title: text({ max: 50 }),
    reader: belongsTo(() => users, { internal: true, optional: true }),
    marks: manyToMany(() => labels, { internal: true }),
  },
  hooks: {
    before: {
      create: async (_, { caller, rows }) => {
        const [mark] = await rows.list(labels, {}, { limit: 1 });
        return { readerId: caller.userId, markIds: [mark!.id] };
      },
    },
  },
  versions: { v1: { subject: "title" } },
});
const replies = resource("reply", {
  plural: "replies",
  parent: letters,
  fields: { body: text({ max: 50 }) },
});

const declared = app({
  name: "Post",
  version: "v2",
  versions: { v1: {} },
  resources: [labels, letters, replies],
});

onEachDatabase("internal references", (database) => {
  let letter = "";
  const server = serve(database, {
    app: declared,
    prepare: async (started) => {
      await started.create("/labels", { name: "urgent mark" });
      letter = (await started.create("/letters", { title: "First" })).id;
      await started.create(`/letters/${letter}/replies`, { body: "Thanks" });
    },
  });

  for (const field of ["reader.email", "reader.name", "reader.id", "readerId", "marks.name", "markIds"])
    test(`${field} is unknown to every read`, async () => {
      const paths = [
        ...[`/letters?fields=${field}`, `/letters/${letter}?fields=${field}`],
        ...[`/v1/letters?fields=${field}`, `/letters/${letter}/replies?fields=letter.${field}`],
        ...[`/v2/exports/letters?fields=${field}`, `/v1/exports/letters?fields=${field}&format=csv`],
      ];
      for (const path of paths) {
        const { status, text, body } = await server.request(path);
        assert.equal(status, 422, `${path}: ${text}`);
        assert.deepEqual(body.error.details, [{ field: "fields", issue: "unknown" }], path);
      }
      const client = await connect(server, server.portico.key);
      const answer = textOf(await callTool(client, "list_letters", { fields: field }));
      assert.match(answer, /Unknown field/);
      await client.close();
      const [name, member] = field.split(".");
      const query = `{ letters { ${name} ${member ? `{ ${member} }` : ""} } }`;
      const { text } = await server.request("/graphql", { body: { query } });
      assert.match(text, new RegExp(`Cannot query field \\\\"${name}`));
    });

  test("no answer has it, nor what it leads to", async () => {
    for (const path of [
      "/letters",
      `/letters/${letter}`,
      "/v1/letters",
      "/v1/exports/letters",
      "/openapi.json",
    ]) {
      const { status, text } = await server.request(path);
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /"(?:reader|mark)|urgent/, path);
    }
  });
});
