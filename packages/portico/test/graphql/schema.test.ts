// The schema of the service, held against the file that stands in the repository, and the parts that are promised.

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

test("the schema of the service is service/schema.graphql; portico schema --out writes it anew", async () => {
  const workspace = await makeWorkspace("sqlite");
  try {
    const { stdout } = await portico(workspace, ["schema"]);
    assert.equal(stdout, readFileSync(file, "utf8"));
  } finally {
    await workspace.remove();
  }
});

/** A field as it is written: `posts(limit: Int = 10): [Post!]!` */
function signature(type: string, field: string): string {
  const schema = buildSchema(readFileSync(file, "utf8"));
  const object = schema.getType(type);
  assert.ok(object instanceof GraphQLObjectType);
  const found = object.getFields()[field]!;
  const given = found.args.map((each) => {
    const standard = each.default
      ? ` = ${JSON.stringify((each.default.literal as { value: string }).value)}`
      : "";
    return `${each.name}: ${each.type}${standard}`;
  });
  return `${field}${given.length > 0 ? `(${given.join(", ")})` : ""}: ${found.type}`;
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

/** The schema of one more resource beside users. */
function sdlOf(...resources: readonly Resource[]): string {
  return printApi(buildModel(app({ name: "Test", resources }), [users]));
}

test("what a declaration says stands in the schema", () => {
  const ships = resource("ship", {
    description: "A ship.",
    fields: {
      name: text({ description: "As it stands on the bow." }),
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
    '"""As it stands on the bow."""\n  name: String!',
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
  const secrets = resource("secret", { fields: { word: text() }, policy: () => undefined });
  const hints = resource("hint", { fields: { secret: belongsTo(() => secrets) } });
  const sdl = sdlOf(secrets, hints);
  assert.match(sdl, /secretId: ID!\n {2}secret: Secret\n/);
});

test("a resource that refers twice to the same is listed by the name of each reference", () => {
  const letters = resource("letter", {
    fields: { sender: belongsTo(() => users), reader: belongsTo(() => users) },
  });
  const sdl = sdlOf(letters);
  assert.match(sdl, /lettersAsSender\(first: Int = 10\): \[Letter!\]!/);
  assert.match(sdl, /lettersAsReader\(first: Int = 10\): \[Letter!\]!/);
});

test("resources that are not served are not in the schema", () => {
  const hidden = resource("hidden", { fields: { word: text() }, exposed: false });
  assert.doesNotMatch(sdlOf(hidden), /hidden/i);
});

test("what a resource does not offer is not in the schema", () => {
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
  test(`a resource named ${name} is refused with one line`, () => {
    const taken = resource(name, { fields: { word: text() } });
    assert.throws(() => sdlOf(taken as unknown as Resource), OperatorError);
  });
}
