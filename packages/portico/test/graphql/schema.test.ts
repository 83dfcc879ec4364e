// The schema of the service matches service/schema.graphql, and contains what the specification requires.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { buildSchema, GraphQLObjectType } from "graphql";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { belongsTo, choice, integer, json, text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { printApi } from "../../src/graphql/schema/print-api.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { makeWorkspace, portico, projectFolder } from "../support/server.ts";

const file = join(projectFolder, "service/schema.graphql");

test("service/schema.graphql is up to date (update it with portico schema --out)", async () => {
  const workspace = await makeWorkspace("sqlite");
  try {
    const { stdout } = await portico(workspace, ["schema"]);
    assert.equal(stdout, readFileSync(file, "utf8"));
  } finally {
    await workspace.remove();
  }
});

/** A field in the schema definition language: `posts(limit: Int = 10): [Post!]!` */
function signature(type: string, field: string): string {
  const schema = buildSchema(readFileSync(file, "utf8"));
  const object = schema.getType(type);
  assert.ok(object instanceof GraphQLObjectType);
  const definition = object.getFields()[field]!;
  const args = definition.args.map((each) => {
    const standard = each.default
      ? ` = ${JSON.stringify((each.default.literal as { value: string }).value)}`
      : "";
    return `${each.name}: ${each.type}${standard}`;
  });
  return `${field}${args.length > 0 ? `(${args.join(", ")})` : ""}: ${definition.type}`;
}

for (const [type, expected] of [
  ["User", "id: ID!"],
  ["User", "name: String!"],
  ["User", "email: String"],
  ["User", 'posts(first: Int = "10"): [Post!]!'],
  ["Post", "id: ID!"],
  ["Post", "title: String!"],
  ["Post", "body: String!"],
  ["Post", "author: User!"],
  ["Query", "user(id: ID!): User"],
  ["Query", 'posts(limit: Int = "10"): [Post!]!'],
  ["Mutation", "createPost(input: CreatePostInput!): Post!"],
] as const) {
  test(`${type} has ${expected}`, () => {
    assert.equal(signature(type, expected.replace(/\W.*/, "")), expected);
  });
}

/** The schema for a resource and users. */
function sdlOf(...resources: readonly Resource[]): string {
  return printApi(buildModel(app({ name: "Test", resources }), [users]));
}

test("the schema reflects the declaration", () => {
  const ships = resource("ship", {
    description: "A ship.",
    fields: {
      name: text({ description: "As painted on the bow." }),
      flag: choice(["red", "blue"], {
        default: "red",
        deprecated: { since: "2026-01-01", sunset: "2027-01-01" },
      }),
      code: choice(["1st", "2nd"], { default: "1st" }),
      crew: integer({ min: 0, max: 10_000 }),
      weight: integer({ min: 0 }),
      papers: json({ default: {} }),
      captain: belongsTo(() => users, { optional: true }),
    },
    filter: ["captainId"],
  });
  const sdl = sdlOf(ships);
  for (const part of [
    '"""A ship."""\ntype Ship implements Node',
    '"""As painted on the bow."""\n  name: String!',
    'flag: ShipFlag! @deprecated(reason: "Deprecated since 2026-01-01. Will be removed on 2027-01-01.")',
    "enum ShipFlag {\n  red\n  blue\n}",
    "code: String!",
    "crew: Int!",
    "weight: SafeInt!",
    "papers: JSON\n",
    "captain: User\n",
    "ships(first: Int = 10): [Ship!]!",
    "type Mutation",
  ])
    assert.ok(sdl.includes(part), `${part}\n\n${sdl}`);
});

test("a reference to rows that a policy may hide is nullable", () => {
  const secrets = resource("secret", { fields: { word: text() }, policy: () => true });
  const hints = resource("hint", { fields: { secret: belongsTo(() => secrets) } });
  const sdl = sdlOf(secrets, hints);
  assert.match(sdl, /secretId: ID!\n {2}secret: Secret\n/);
});

test("a resource with two references to the same target has a list for each", () => {
  const letters = resource("letter", {
    fields: { sender: belongsTo(() => users), reader: belongsTo(() => users) },
  });
  const sdl = sdlOf(letters);
  assert.match(sdl, /lettersAsSender\(first: Int = 10\): \[Letter!\]!/);
  assert.match(sdl, /lettersAsReader\(first: Int = 10\): \[Letter!\]!/);
});

test("resources with exposed: false are not in the schema", () => {
  const hidden = resource("hidden", { fields: { word: text() }, exposed: false });
  assert.doesNotMatch(sdlOf(hidden), /hidden/i);
});

test("operations that a resource excludes are not in the schema", () => {
  const notes = resource("note", {
    fields: { word: text({ max: 10 }) },
    search: ["word"],
    operations: ["list"],
  });
  const sdl = sdlOf(notes);
  assert.match(sdl, /type Note \{/);
  assert.match(sdl, /notesConnection\(/);
  assert.doesNotMatch(sdl, /note\(id|createNote|updateNote|deleteNote|Note implements/);
});

for (const name of ["node", "query", "search"]) {
  test(`a resource named ${name} is a one-line error`, () => {
    const reserved = resource(name, { fields: { word: text() } });
    assert.throws(() => sdlOf(reserved as unknown as Resource), OperatorError);
  });
}
