// The JSON Schemas that derive from a declaration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import {
  belongsTo,
  boolean,
  choice,
  id,
  integer,
  json,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";

const parents = resource("parent", { fields: { name: text() } });
const things = resource("thing", {
  parent: parents,
  fields: {
    title: text({ min: 1, max: 9, pattern: /[a-z]+/, description: "What it is called." }),
    note: text({ optional: true, format: "uri" }),
    count: integer({ min: 0, default: 0 }),
    ratio: number({ max: 1, optional: true }),
    isOpen: boolean({ default: false }),
    at: timestamp({ default: "now" }),
    kind: choice(["a", "b"], { optional: true }),
    meta: json({ default: {} }),
    foreign: id({ optional: true }),
    owner: belongsTo(() => parents),
    secret: text({ internal: true }),
    total: integer({ readOnly: true }),
    old: text({ default: ({ title }) => String(title), deprecated: { since: "2027-01-01" } }),
  },
  hooks: { before: { create: () => ({ secret: "", total: 0 }) } },
});
const { schemas } = buildModel(app({ name: "Schemas", resources: [parents, things] }), []).resource.get(
  "thing",
)!;

test("every writable field has a schema, and no other field has one", () => {
  assert.deepEqual(schemas.create, {
    type: "object",
    properties: {
      title: {
        type: "string",
        minLength: 1,
        maxLength: 9,
        pattern: "^(?:[a-z]+)$",
        description: "What it is called.",
      },
      note: { type: ["string", "null"], maxLength: 2_000, format: "uri" },
      count: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
      ratio: { type: ["number", "null"], maximum: 1 },
      isOpen: { type: "boolean", default: false },
      at: { type: "string", format: "date-time" },
      kind: { type: ["string", "null"], enum: ["a", "b", null] },
      meta: { default: {} },
      foreign: { type: ["string", "null"], minLength: 1, maxLength: 255, pattern: "^\\S+$" },
      ownerId: { type: "string", minLength: 1, maxLength: 255 },
      old: { type: "string", deprecated: true },
    },
    required: ["title", "ownerId"],
    additionalProperties: false,
  });
});

test("a replacement requires the same fields as a creation, an update none", () => {
  assert.deepEqual(schemas.replace, schemas.create);
  assert.deepEqual(schemas.update, { ...schemas.create, required: [] });
});
