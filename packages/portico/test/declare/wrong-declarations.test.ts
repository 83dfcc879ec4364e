// Invalid declarations of resources stop the start with one line that names the resource and how to fix it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, boolean, integer, number, text } from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { areRefused, declareUntyped, elsewhere, title, type Wrong } from "./refused-declarations.ts";

areRefused([
  [
    "a name with a hyphen",
    [declareUntyped("blog-post", { fields: { title } })],
    "resource blog-post: write the name as one word in camelCase, for example apiKey",
  ],
  ...(
    [
      [
        "an option that does not exist",
        { sorts: ["title"] },
        "unknown option sorts; use some of fields, plural, was, parent, filter, sort, search, unique, indexes, scopes, version, versions, paging, policy, inheritPolicy, hooks, validate, markOnDelete, softDelete, actions, nestedUnder, exposed, operations, events, idempotencyKey, public, whenReferenced, mcp, description, deprecated, deprecatedOperations, returnsOnce",
      ],
      [
        "a public write",
        { public: ["list", "create"] },
        'public is a list of some of list, get; other operations need a secret credential: public: ["list", "get"]',
      ],
      [
        "public as a word",
        { public: true },
        'public is a list of some of list, get; other operations need a secret credential: public: ["list", "get"]',
      ],
      [
        "a public operation that it does not have",
        { public: ["list"], operations: ["get"] },
        "its operations lack list, so that cannot be public; add it there",
      ],
      [
        "a public resource that is not exposed",
        { public: ["list"], exposed: false },
        "it is not exposed, so nothing of it can be public",
      ],
      [
        "an advice that is empty",
        { whenReferenced: "" },
        'whenReferenced is a sentence for callers: "Archive it instead."',
      ],
      ["an unknown paging", { paging: "offset" }, "paging is cursor or page"],
      ["one scope of two", { scopes: { read: "a:read" } }, "scopes needs both read and write"],
      ["a version of two words", { version: "v 2" }, "write version as v1, v2 and so on"],
      ["a plural with a space", { plural: "blog posts" }, "write plural as one word in camelCase"],
      [
        "a policy that is no function",
        { policy: {} },
        "policy is a function, ({ caller }) => ..., or several by operation, { read, write }",
      ],
      [
        "a policy for an unknown operation",
        { policy: { list: () => true } },
        "there is no policy for list; use some of read, create, update, delete, write",
      ],
      [
        "a policy for an operation that is no function",
        { policy: { read: { ownerId: "a" } } },
        "the policy for read is a function, ({ caller }) => ...",
      ],
      [
        "a policy for write that decides about nothing",
        { policy: { create: () => true, update: () => true, delete: () => true, write: () => true } },
        "the policy for write decides about nothing, because create, update and delete have their own; remove it",
      ],
      [
        "an inheritPolicy that is not a boolean",
        { parent: elsewhere, inheritPolicy: "no" },
        "inheritPolicy is true or false",
      ],
      [
        "an inherited policy without a parent",
        { inheritPolicy: false },
        "inheritPolicy needs a parent; remove it, or set parent",
      ],
      [
        "an operation that does not exist",
        { operations: ["list", "patch"] },
        "operations is a list of some of list, get, create, replace, update, delete",
      ],
      [
        "no operation at all",
        { operations: [] },
        "operations is a list of some of list, get, create, replace, update, delete",
      ],
      [
        "a hook at an unknown time",
        { hooks: { during: {} } },
        "there is no hook during; use before or after create, update, delete",
      ],
      [
        "a hook of an unknown operation",
        { hooks: { before: { patch() {} } } },
        "there is no hook before.patch; use before or after create, update, delete",
      ],
    ] as const
  ).map(
    ([fact, more, line]) =>
      [fact, [declareUntyped("post", { fields: { title }, ...more })], `resource post: ${line}`] as const,
  ),
  [
    "a name with an initial capital",
    [declareUntyped("Post", { fields: { title } })],
    "resource Post: write the name as one word in camelCase, for example apiKey",
  ],
  [
    "a deprecation without a date",
    [declareUntyped("post", { fields: { title: text({ deprecated: { since: "soon" } }) } })],
    "resource post, field title: deprecated.since and .sunset are ISO dates, 2027-01-31",
  ],
  [
    "a sunset before its announcement",
    [
      declareUntyped("post", {
        fields: { title },
        deprecated: { since: "2027-02-01", sunset: "2027-01-01" },
      }),
    ],
    "resource post: deprecated.sunset is earlier than deprecated.since; RFC 8594 forbids that",
  ],
  [
    "a scope with a space",
    [declareUntyped("post", { fields: { title }, scopes: { read: "read posts", write: "posts:write" } })],
    "resource post: the scope 'read posts' has a character that RFC 6749 does not allow",
  ],
  [
    "two resources with one name",
    [resource("post", { fields: { title } }), declareUntyped("post", { fields: { body: title } })],
    "resource post: two resources have this name; rename one",
  ],
  [
    "two resources with one path",
    [resource("post", { fields: { title } }), resource("article", { fields: { title }, plural: "posts" })],
    "resource article: its path is taken by post; set plural",
  ],
  ...["", "Blog post", 7, null, ["post"], {}, { name: "post" }, { name: "post", plural: 7 }].map(
    (was): Wrong => [
      `a resource that was ${JSON.stringify(was)}`,
      [declareUntyped("article", { was, fields: { title } })],
      'resource article: write was as the first name of the resource, "person", or { name: "person", plural: "people" }',
    ],
  ),
  [
    "a resource with the name that another had",
    [
      declareUntyped("article", { was: { name: "post", plural: "texts" }, fields: { title } }),
      declareUntyped("post", { fields: { title } }),
    ],
    "resource post: rows and events of article are stored as post; choose another name",
  ],
  [
    "a resource whose parent has its own name",
    [declareUntyped("elsewhere", { parent: elsewhere, fields: { title } })],
    "resource elsewhere: it is its own parent; set parent to another resource",
  ],
]);

test("a valid declaration becomes a frozen model with all derived names", () => {
  const boxes = resource("storageBox", {
    fields: {
      count: integer({ default: 0 }),
      ratio: number(),
      isOpen: boolean(),
      shelf: belongsTo(() => elsewhere),
    },
    filter: ["shelfId", range("count")],
    sort: ["count"],
  });
  const model = buildModel(app({ name: "Right", resources: [elsewhere, boxes] }), []);
  const box = model.resource.get("storageBox")!;
  assert.ok(Object.isFrozen(model) && Object.isFrozen(box));
  assert.partialDeepStrictEqual(box, {
    plural: "storageBoxes",
    segment: "storage-boxes",
    table: "storage_boxes",
    idPrefix: "storage_box",
    scopes: { read: "storage-boxes:read", write: "storage-boxes:write" },
    version: "v1",
    paging: "cursor",
    isExposed: true,
  });
  assert.deepEqual(
    box.attributes.map(({ name, column }) => [name, column]),
    [
      ["id", "id"],
      ["count", "count"],
      ["ratio", "ratio"],
      ["isOpen", "is_open"],
      ["shelfId", "shelf_id"],
      ["createdAt", "created_at"],
      ["updatedAt", "updated_at"],
    ],
  );
  assert.deepEqual([...box.sorts.keys()], ["createdAt", "count"]);
  assert.deepEqual(
    [...box.filters].map(([name, { hasRange }]) => [name, hasRange]),
    [
      ["shelfId", false],
      ["count", true],
    ],
  );
});
