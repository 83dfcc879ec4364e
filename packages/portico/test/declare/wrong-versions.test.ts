// Invalid versions stop the start with one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text } from "../../src/declare/field.ts";
import type { Resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { declareUntyped, elsewhere, title } from "./refused-declarations.ts";

const authors = declareUntyped("author", { fields: { title } });
const fields = { headline: title, note: text({ optional: true }), author: belongsTo(() => authors) };
const posts = (versions: unknown, others: object = {}): Resource[] => [
  authors,
  declareUntyped("post", { fields, versions, ...others }),
];
const untypedApp = app as unknown as (description: object) => ReturnType<typeof app>;

function refuses(fact: string, description: object, line: string): void {
  test(`${fact} is refused`, () => {
    assert.throws(
      () =>
        buildModel(untypedApp({ name: "Wrong", version: "v2", resources: [elsewhere], ...description }), []),
      (error) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.equal(error.message, line);
        return true;
      },
    );
  });
}

const wrongApps: readonly (readonly [fact: string, versions: unknown, line: string])[] = [
  ["a list of versions", ["v1"], "write the older versions by their names: versions: { v1: {} }"],
  ["a version that is no number", { old: {} }, "old is not a version; write v1, v2 and so on"],
  [
    "the current version among the older ones",
    { v2: {} },
    "v2 is the current version; list older ones, or set version to a newer one",
  ],
  [
    "a version without a description",
    { v1: true },
    'write v1 as an object: v1: {}, or v1: { deprecated: { since: "2027-01-01" } }',
  ],
  [
    "an unknown option of a version",
    { v1: { until: "2027" } },
    "v1 has the unknown option until; use deprecated",
  ],
];
for (const [fact, versions, line] of wrongApps) refuses(fact, { versions }, `app, versions: ${line}`);

refuses(
  "a sunset before the deprecation of a version",
  { versions: { v1: { deprecated: { since: "2027-02-01", sunset: "2027-01-01" } } } },
  "app, versions, v1: deprecated.sunset is earlier than deprecated.since; RFC 8594 forbids that",
);
refuses(
  "a link that no header can have",
  { versions: { v1: { deprecated: { since: "2027-02-01", link: "/changes" } } } },
  'app, versions, v1: deprecated.link is the address of a page: "https://example.com/changes"',
);
refuses(
  "a current version that is no number beside older ones",
  { version: "2027", versions: { v1: {} } },
  "app, versions: the current version is 2027; write version as v1, v2 and so on",
);

const wrongTables: readonly (readonly [fact: string, versions: unknown, line: string, others?: object])[] = [
  [
    "a text as versions",
    "v1",
    ': write the names of fields by version: versions: { v1: { title: "headline" } }',
  ],
  [
    "a version that the app does not serve",
    { v0: {} },
    ": the app serves no older version v0; add it to app: versions: { v0: {} }",
  ],
  [
    "a deprecated operation that the resource does not have",
    {},
    "!deprecatedOperations names create, which is not one of its operations; actions have the option deprecated",
    { operations: ["list"], deprecatedOperations: { create: { since: "2027-01-01" } } },
  ],
  [
    "a deprecated action without a date",
    {},
    "!action loans: deprecated.since and .sunset are ISO dates, 2027-01-31",
    { actions: { loans: { input: {}, run: () => {}, deprecated: { since: "soon" } } } },
  ],
  [
    "a text as the names of a version",
    { v1: "title" },
    ': write v1 as false, or as the names that its fields have there: { title: "headline" }',
  ],
  [
    "versions of a resource that is in one only",
    { v1: {} },
    ": the resource is only in v1; remove version or versions",
    { version: "v1" },
  ],
  [
    "a name for no field",
    { v1: { title: "head" } },
    ", v1: there is no field head; use one of headline, note, author",
  ],
  [
    "no field that is left out",
    { v1: { title: false } },
    ", v1: there is no field title; use one of headline, note, author",
  ],
  [
    "a name that no field can have",
    { v1: { limit: "note" } },
    ", v1: no field can be called limit; choose another name",
  ],
  [
    "a field with two names",
    { v1: { a: "note", b: "note" } },
    ", v1: note has two names, a and b; remove one",
  ],
  [
    "a name that is another field's",
    { v1: { authorId: "note" } },
    ", v1: two fields are called authorId; give one another name, or false",
  ],
  [
    "a name that is no text",
    { v1: { title: ["headline"] } },
    ", v1: there is no field headline; use one of headline, note, author",
  ],
  [
    "the name of a query parameter of deleted rows",
    { v1: { deleted: "note" } },
    ", v1: softDelete adds the query parameter deleted; choose another name",
    { softDelete: true },
  ],
  [
    "the name of a field of deleted rows",
    { v1: { deletedAt: "note" } },
    ", v1: two fields are called deletedAt; give one another name, or false",
    { softDelete: true },
  ],
  [
    "a version without a field that new rows need",
    { v1: { headline: false } },
    ", v1: new rows need headline, which the version does not have; give the field a default, or make it optional",
  ],
];
for (const [fact, versions, line, others] of wrongTables)
  refuses(
    fact,
    { versions: { v1: {} }, resources: posts(versions, others) },
    `resource post${line.startsWith("!") ? line.replace("!", ": ") : `, versions${line}`}`,
  );

refuses(
  "a path of a resource of an older version only that another has there too",
  {
    versions: { v1: {} },
    resources: [...posts({}), declareUntyped("note", { plural: "posts", fields: { title }, version: "v1" })],
  },
  "resource post: its path in v1 is taken by note; add versions: { v1: false }",
);
