// Invalid declarations stop the start with one line that names the resource, the field and how to fix it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import {
  belongsTo,
  boolean,
  choice,
  integer,
  json,
  list,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";

/** Declares a resource without type checks, as JavaScript does. */
const declareUntyped = resource as unknown as (name: string, declaration: object) => Resource;

const looseList = list as unknown as (item: unknown) => ReturnType<typeof text>;

const title = text({ max: 100 });
const indexed = {
  title,
  kind: choice(["a", "b"]),
  count: integer(),
  body: text(),
  hidden: text({ max: 20, internal: true }),
};
const longText = text({ max: 200 });
const longTexts = { title: longText, subtitle: longText, name: longText, kind: choice(["a", "b"]) };
const elsewhere = resource("elsewhere", { fields: { title } });

const wrong: readonly (readonly [fact: string, resources: readonly Resource[], line: string])[] = [
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
        "unknown option sorts; use some of fields, plural, was, parent, filter, sort, search, unique, indexes, scopes, version, paging, policy, inheritPolicy, hooks, validate, markOnDelete, actions, nestedUnder, exposed, operations, events, idempotencyKey, public, whenReferenced, description, deprecated",
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
  ...(
    [
      [
        "a misspelt option",
        { ...title, options: { mx: 5 } },
        "unknown option mx; use some of optional, readOnly, internal, immutable, keepOnReplace, excludeFromETag, was, fill, description, deprecated, min, max, default, unique, format, pattern",
      ],
      ["a value that is not a field", "text", "write it with text(), integer(), choice() or another kind"],
      ["a negative bound", text({ min: -1 }), "min and max count characters"],
      ["a pattern with flags", text({ pattern: /a/i }), "pattern is a regular expression without flags"],
      ["an unknown format", { ...title, options: { format: "url" } }, "format is email or uri"],
      ["a default beyond its bounds", integer({ max: 5, default: 9 }), "the default is outside min and max"],
    ] as const
  ).map(
    ([fact, field, line]) =>
      [
        `a field with ${fact}`,
        [declareUntyped("post", { fields: { colour: field } })],
        `resource post, field colour: ${line}`,
      ] as const,
  ),
  [
    "a field with the name of an internal column",
    [declareUntyped("post", { fields: { tenantId: title } })],
    "resource post, field tenantId: this name is reserved; rename it",
  ],
  ...["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"].map(
    (field) =>
      [
        `a field with the name of the system column ${field}`,
        [declareUntyped("post", { fields: { [field]: title } })],
        `resource post, field ${field}: this name is reserved; rename it`,
      ] as const,
  ),
  [
    "a name with an initial capital",
    [declareUntyped("Post", { fields: { title } })],
    "resource Post: write the name as one word in camelCase, for example apiKey",
  ],
  [
    "a field with an underscore",
    [declareUntyped("post", { fields: { due_at: title } })],
    "resource post, field due_at: write the name as one word in camelCase, for example dueAt",
  ],
  [
    "a field that is added automatically",
    [declareUntyped("post", { fields: { createdAt: timestamp() } })],
    "resource post, field createdAt: id, createdAt and updatedAt are added automatically; remove it",
  ],
  ...["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q"].map(
    (name) =>
      [
        `a field called ${name}`,
        [declareUntyped("post", { fields: { [name]: title } })],
        `resource post, field ${name}: this name is a query parameter; choose another`,
      ] as const,
  ),
  [
    "a field that is optional and has a default",
    [declareUntyped("post", { fields: { body: text({ optional: true, default: "" }) } })],
    "resource post, field body: has a default and is optional; remove one of the two",
  ],
  [
    "bounds that allow no value",
    [declareUntyped("post", { fields: { body: text({ min: 2, max: 1 }) } })],
    "resource post, field body: min is larger than max",
  ],
  [
    "a choice field without choices",
    [declareUntyped("post", { fields: { status: choice([]) } })],
    "resource post, field status: add at least one choice",
  ],
  [
    "a choice that is listed twice",
    [declareUntyped("post", { fields: { status: choice(["a", "a"]) } })],
    "resource post, field status: a choice is listed twice; remove one",
  ],
  [
    "a default that is not one of the choices",
    [declareUntyped("post", { fields: { status: choice(["a", "b"], { default: "c" as "a" }) } })],
    "resource post, field status: the default 'c' is not one of the choices; use one of a, b",
  ],
  [
    "a default that is not a timestamp",
    [declareUntyped("post", { fields: { at: timestamp({ default: "tomorrow" }) } })],
    "resource post, field at: the default is not an ISO 8601 date and time; write it as 2027-01-31T09:00:00Z, or as now",
  ],
  [
    "a default timestamp without a time zone",
    [declareUntyped("post", { fields: { at: timestamp({ default: "2027-01-31T09:00:00" }) } })],
    "resource post, field at: the default is not an ISO 8601 date and time; write it as 2027-01-31T09:00:00Z, or as now",
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
  [
    "a reference to a resource that the app does not list",
    [resource("post", { fields: { author: belongsTo(() => elsewhere) } })],
    "resource post, author: refers to elsewhere, which the app does not list; add it to resources",
  ],
  [
    "a parent that the app does not list",
    [resource("comment", { parent: elsewhere, fields: { title } })],
    "resource comment, parent: refers to elsewhere, which the app does not list; add it to resources",
  ],
  [
    "a reference to no resource",
    [resource("post", { fields: { author: belongsTo(() => undefined as unknown as Resource) } })],
    "resource post, author: refers to nothing, which the app does not list; add it to resources",
  ],
  [
    "two fields with one name",
    [elsewhere, declareUntyped("post", { fields: { author: belongsTo(() => elsewhere), authorId: title } })],
    "resource post, field authorId: this name is used twice; rename one",
  ],
  [
    "a field with the name that another had",
    [declareUntyped("post", { fields: { headline: text({ was: "title" }), title } })],
    "resource post, field title: the values of headline are stored as title; choose another name",
  ],
  [
    "a field that had the name of another",
    [declareUntyped("post", { fields: { title, headline: text({ was: "title" }) } })],
    "resource post, field title: the values of headline are stored as title; choose another name",
  ],
  [
    "a reference with the name that another had",
    [
      elsewhere,
      declareUntyped("post", {
        fields: { author: belongsTo(() => elsewhere, { was: "writer" }), writer: belongsTo(() => elsewhere) },
      }),
    ],
    "resource post, field writerId: the values of authorId are stored as writerId; choose another name",
  ],
  ...["", "id", "createdAt", "A title", 'x"; drop table posts; --', 7, null, ["title"], {}].map(
    (was): (typeof wrong)[number] => [
      `a field that was ${JSON.stringify(was)}`,
      [declareUntyped("post", { fields: { title: text({ was: was as string }) } })],
      'resource post, field title: was is the first name that the field had: was: "title"',
    ],
  ),
  ...["", "Blog post", 7, null, ["post"], {}, { name: "post" }, { name: "post", plural: 7 }].map(
    (was): (typeof wrong)[number] => [
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
    "the former name of a field of an action",
    [
      declareUntyped("post", {
        fields: { title },
        actions: { copies: { input: { name: text({ was: "title" }) }, run: () => undefined } },
      }),
    ],
    "resource post, field copies.name: the input of an action comes from its caller; remove was",
  ],
  [
    "a field with the name of a reference",
    [
      elsewhere,
      declareUntyped("post", {
        fields: { author: belongsTo(() => elsewhere), authorId2: title, elsewhere: title },
        parent: elsewhere,
      }),
    ],
    "resource post, field elsewhere: also the name of a reference; rename one",
  ],
  [
    "a filter by an unknown field",
    [declareUntyped("post", { fields: { title }, filter: ["nope"] })],
    "resource post, filter: there is no field nope; use one of id, title, createdAt, updatedAt",
  ],
  [
    "a range filter by an unknown field",
    [declareUntyped("post", { fields: { title }, filter: [range("nope")] })],
    "resource post, filter: there is no field nope; use one of id, title, createdAt, updatedAt",
  ],
  [
    "a sort by an unknown field",
    [declareUntyped("post", { fields: { title }, sort: ["nope"] })],
    "resource post, sort: there is no field nope; use one of id, title, createdAt, updatedAt",
  ],
  [
    "a sort by JSON",
    [resource("post", { fields: { meta: json() }, sort: ["meta"] })],
    "resource post, field meta: JSON cannot be filtered or sorted by; remove it there",
  ],
  [
    "a filter by a text without max",
    [resource("post", { fields: { title: text() }, filter: ["title"] })],
    "resource post, field title: is filtered, sorted, unique or indexed, so it needs max: 255 or less",
  ],
  [
    "a unique text without max",
    [resource("post", { fields: { title: text({ unique: true }) } })],
    "resource post, field title: is filtered, sorted, unique or indexed, so it needs max: 255 or less",
  ],
  ...(
    [
      [
        "unique fields without an outer list",
        { unique: ["title"] },
        ': write unique as a list of lists of fields, [["ownerId", "name"]]',
      ],
      [
        "an index on what is no name",
        { indexes: [[5]] },
        ': write indexes as a list of lists of fields, [["status", "-title"]]',
      ],
      [
        "an empty list of unique fields",
        { unique: [[]] },
        ': unique has an empty list; name its fields, [["ownerId", "name"]]',
      ],
      [
        "an index on nothing",
        { indexes: [[]] },
        ': indexes has an empty list; name its fields, [["status", "-title"]]',
      ],
      [
        "an index on too many fields",
        { indexes: [["title", "kind", "count", "createdAt", "updatedAt"]] },
        ": indexes, title, kind, count, createdAt, updatedAt: has 5 fields; at most 4 are possible",
      ],
      [
        "too many indexes",
        { indexes: Array.from({ length: 17 }, () => ["kind", "title"]) },
        ": indexes has 17 lists; at most 16 are possible",
      ],
      [
        "an index on an unknown field",
        { indexes: [["kind", "-nope"]] },
        ", indexes kind, -nope: there is no field -nope; use some of title, kind, count, body, createdAt, updatedAt",
      ],
      [
        "an internal field that is unique",
        { unique: [["kind", "hidden"]] },
        ", unique kind, hidden: there is no field hidden; use some of title, kind, count, body, createdAt, updatedAt",
      ],
      [
        "a field that is indexed twice",
        { indexes: [["title", "-title"]] },
        ", indexes title, -title: a field is listed twice; remove one",
      ],
      [
        "an index that is declared twice",
        {
          indexes: [
            ["kind", "title"],
            ["kind", "-title"],
          ],
        },
        ", indexes kind, -title: this index is created for indexes kind, title; remove it",
      ],
      [
        "unique fields that are declared twice",
        {
          unique: [
            ["kind", "title"],
            ["title", "kind"],
          ],
        },
        ", unique title, kind: this index is created for unique kind, title; remove it",
      ],
      [
        "an index that a filter has anyway",
        { indexes: [["kind", "-createdAt"]] },
        ", indexes kind, -createdAt: this index is created automatically; remove it",
      ],
      [
        "an index whose last field is no sort",
        { indexes: [["kind", "count"]] },
        ", indexes kind, count: its last field orders a page; add count to sort",
      ],
      [
        "unique texts that are too long together",
        { unique: [["title", "subtitle", "name"]], fields: longTexts },
        ", index on title, subtitle, name: its texts may have 600 characters in total; set max so that the total is 510 or less",
      ],
      [
        "a unique text without an end, together with another",
        { unique: [["kind", "body"]] },
        ", field body: is filtered, sorted, unique or indexed, so it needs max: 255 or less",
      ],
    ] as const
  ).map(
    ([fact, more, line]) =>
      [
        fact,
        [declareUntyped("post", { fields: indexed, filter: ["kind"], sort: ["title"], ...more })],
        `resource post${line}`,
      ] as const,
  ),
  [
    "a search in a number",
    [resource("post", { fields: { count: integer() }, search: ["count"] })],
    "resource post, field count: only text can be searched; remove it from search",
  ],
  [
    "a resource whose parent has its own name",
    [declareUntyped("elsewhere", { parent: elsewhere, fields: { title } })],
    "resource elsewhere: it is its own parent; set parent to another resource",
  ],
  [
    "a list of lists",
    [declareUntyped("post", { fields: { tags: looseList(looseList(text())) } })],
    "resource post, field tags: a list holds one of text, integer, number, boolean, choice, id: write list(text())",
  ],
  [
    "a list whose items are optional",
    [declareUntyped("post", { fields: { tags: looseList(text({ optional: true })) } })],
    "resource post, field tags: its items: unknown option optional; set it on the list",
  ],
  [
    "a list whose items have a min larger than max",
    [resource("post", { fields: { tags: list(text({ min: 9, max: 1 })) } })],
    "resource post, field tags: its items: min is larger than max",
  ],
  [
    "a list whose default is too long",
    [resource("post", { fields: { tags: list(text(), { max: 1, default: ["a", "b"] }) } })],
    "resource post, field tags: the default has fewer items than min or more than max",
  ],
  [
    "a filter by a list",
    [resource("post", { fields: { tags: list(text()) }, filter: ["tags"] })],
    "resource post, field tags: a list cannot be filtered or sorted by; remove it there",
  ],
  [
    "a search in texts without max",
    [resource("post", { fields: { body: text() }, search: ["body"] })],
    "resource post, search: its texts may have Infinity characters in total; set max so that the total is 200000 or less",
  ],
];

for (const [fact, resources, line] of wrong) {
  test(`${fact} is refused`, () => {
    assert.throws(
      () => buildModel(app({ name: "Wrong", resources }), []),
      (error) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.equal(error.message, line);
        return true;
      },
    );
  });
}

test("a required field that only hooks can set needs a hook, if callers create rows", () => {
  const described = {
    fields: { title, hash: text({ max: 64, internal: true }), total: integer({ readOnly: true }) },
  };
  const build = (more: object): unknown =>
    buildModel(app({ name: "Wrong", resources: [declareUntyped("post", { ...described, ...more })] }), []);
  assert.throws(
    () => build({ hooks: { before: { update: () => ({ hash: "" }) } } }),
    /^OperatorError: resource post, field hash: callers cannot set it, and no hook does, so nobody could create a row; /,
  );
  build({ hooks: { before: { create: () => ({ hash: "", total: 0 }) } } });
  build({ exposed: false });
  build({ operations: ["list", "get"] });
});

test("an internal field cannot be a filter", () => {
  const hidden = declareUntyped("post", {
    fields: { hash: text({ internal: true, max: 64 }) },
    filter: ["hash"],
  });
  assert.throws(() => buildModel(app({ name: "Wrong", resources: [hidden] }), []), /there is no field hash/);
});

test("indexes of the same fields can be declared for orders that differ", () => {
  const box = resource("box", {
    fields: { count: integer(), size: integer() },
    filter: ["count", "size"],
    sort: ["count"],
    indexes: [
      ["-count", "createdAt"],
      ["size", "count", "-createdAt"],
      ["size", "count", "createdAt"],
    ],
  });
  const model = buildModel(app({ name: "Right", resources: [box] }), []);
  const declared = model.resource.get("box")!.indexes.slice(-3);
  assert.deepEqual(
    declared.map(({ columns }) => columns.map(({ isDescending }) => isDescending)),
    [
      [true, false, false],
      [false, false, true, true],
      [false, false, false, false],
    ],
  );
  for (const [fields, by] of [
    // In the other direction, an automatic index has this order.
    [["-count", "-createdAt"], "automatically"],
    [["size", "-count", "createdAt"], "for indexes size, count, -createdAt"],
    // No page is sorted by size.
    [["-size", "count", "createdAt"], "for indexes size, count, createdAt"],
  ] as const) {
    const indexes = [...box.declaration.indexes!, [...fields]];
    const twice = declareUntyped("box", { ...box.declaration, indexes });
    assert.throws(() => buildModel(app({ name: "Wrong", resources: [twice] }), []), {
      message: `resource box, indexes ${fields.join(", ")}: this index is created ${by}; remove it`,
    });
  }
});

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
