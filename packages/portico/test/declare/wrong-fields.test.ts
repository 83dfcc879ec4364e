// Invalid fields and references stop the start with one line that names the resource, the field and how to fix it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import {
  belongsTo,
  choice,
  count,
  date,
  decimal,
  file,
  integer,
  json,
  list,
  manyToMany,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { areRefused, declareUntyped, elsewhere, title, type Wrong } from "./refused-declarations.ts";

const labels = resource("label", { fields: { name: text() } });
const looseManyToMany = manyToMany as unknown as (
  target: unknown,
  options?: object,
) => ReturnType<typeof text>;
const labelled = (field: ReturnType<typeof text> | ReturnType<typeof manyToMany>) =>
  resource("note", { fields: { labels: field } });
const looseList = list as unknown as (item: unknown) => ReturnType<typeof text>;
const itemKinds = "text, integer, number, boolean, choice, id, date";
/** A name of 41 characters whose stored form has 81. */
const shout = `a${"B".repeat(40)}`;

areRefused([
  ...(
    [
      [
        "a misspelt option",
        { ...title, options: { mx: 5 } },
        "unknown option mx; use some of optional, readOnly, internal, immutable, keepOnReplace, excludeFromETag, was, fill, description, deprecated, min, max, default, unique, format, pattern",
      ],
      ["a value that is not a field", "text", "write it with text(), integer(), choice() or another kind"],
      ["a negative bound", text({ min: -1 }), "min and max count characters: whole numbers from 0"],
      ["a pattern with flags", text({ pattern: /a/i }), "pattern is a regular expression without flags"],
      ["an unknown format", { ...title, options: { format: "url" } }, "format is email or uri"],
      ["a size that is none", file({ max: "10 parrots" }), 'max is a size of at most 1 GB: max: "10 MB"'],
      ["a size beyond all bounds", file({ max: "2 GB" }), 'max is a size of at most 1 GB: max: "10 MB"'],
      [
        "a media type that is none",
        file({ types: ["pictures"] }),
        'types is a list of media types: types: ["image/*", "application/pdf"]',
      ],
      ["a default beyond its bounds", integer({ max: 5, default: 9 }), "the default is outside min and max"],
      [
        "more digits than 64 bits hold",
        decimal({ precision: 19, scale: 2 }),
        "precision is the number of digits in all, 1 to 18: precision: 12",
      ],
      [
        "more digits after the point than in all",
        decimal({ precision: 2, scale: 3 }),
        "scale is the number of digits after the point, 0 to precision: scale: 2",
      ],
      [
        "a number as the bound of a decimal",
        decimal({ precision: 5, scale: 2, min: 0 as unknown as string }),
        'min is not a decimal of these digits; write it as text, such as "99.99"',
      ],
      [
        "a default with more digits than a decimal has",
        decimal({ precision: 5, scale: 2, default: "1.005" }),
        'default is not a decimal of these digits; write it as text, such as "99.99"',
      ],
      [
        "a decimal min larger than max",
        decimal({ precision: 5, scale: 2, min: "10", max: "9" }),
        "min is larger than max",
      ],
      [
        "a default beyond the bounds of a decimal",
        decimal({ precision: 5, scale: 2, min: "-10", default: "-11" }),
        "the default is outside min and max",
      ],
      [
        "a default that is no day",
        date({ default: "2026-02-30" }),
        "default is not a day that exists; write it as 2027-01-31, or as today",
      ],
      ["a first day after the last", date({ min: "2027-01-01", max: "2026-01-01" }), "min is later than max"],
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
    "a field whose column PostgreSQL would truncate",
    [declareUntyped("post", { fields: { [shout]: title } })],
    `resource post, field ${shout}: it is stored under a name of more than 63 characters; choose a shorter one`,
  ],
  [
    "a plural whose table PostgreSQL would truncate",
    [declareUntyped("post", { fields: { title }, plural: shout })],
    "resource post: its plural is stored under a name of more than 63 characters; choose a shorter one",
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
    (was): Wrong => [
      `a field that was ${JSON.stringify(was)}`,
      [declareUntyped("post", { fields: { title: text({ was: was as string }) } })],
      'resource post, field title: was is the first name that the field had: was: "title"',
    ],
  ),
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
    "a list of lists",
    [declareUntyped("post", { fields: { tags: looseList(looseList(text())) } })],
    `resource post, field tags: a list holds ${itemKinds}; write json({ schema })`,
  ],
  ...[decimal({ precision: 5, scale: 2 }), timestamp(), file(), count(() => elsewhere)].map(
    (item): Wrong => [
      `a list of the kind ${item.kind}`,
      [declareUntyped("post", { fields: { tags: looseList(item) } })],
      `resource post, field tags: a list holds ${itemKinds}, not ${item.kind}; declare a child resource with this field`,
    ],
  ),
  ...[belongsTo(() => elsewhere), manyToMany(() => elsewhere)].map(
    (item): Wrong => [
      `a list of the kind ${item.kind}`,
      [declareUntyped("post", { fields: { tags: looseList(item) } })],
      `resource post, field tags: a list holds ${itemKinds}; write manyToMany(() => labels)`,
    ],
  ),
  [
    "a list of the kind json",
    [declareUntyped("post", { fields: { tags: looseList(json()) } })],
    `resource post, field tags: a list holds ${itemKinds}; write json({ schema })`,
  ],
  [
    "a list of something else",
    [declareUntyped("post", { fields: { tags: looseList("text") } })],
    `resource post, field tags: a list holds ${itemKinds}: write list(text())`,
  ],
  [
    "a list whose items are optional",
    [declareUntyped("post", { fields: { tags: looseList(text({ optional: true })) } })],
    "resource post, field tags: its items: unknown option optional; remove it, or set it on the list",
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
    "too many rows of a many-to-many field",
    [labelled(manyToMany(() => labels, { max: 5_000 }))],
    "resource note, field labels: max is a number of rows from 1 to 1000",
  ],
  [
    "a many-to-many field without a function",
    [labelled(looseManyToMany(labels))],
    "resource note, field labels: write the other resource as a function: manyToMany(() => labels)",
  ],
  [
    "an optional many-to-many field",
    [labelled(looseManyToMany(() => labels, { optional: true }))],
    "resource note, field labels: unknown option optional; use some of readOnly, internal, immutable, keepOnReplace, excludeFromETag, was, description, deprecated, max, singular, onDelete, default",
  ],
  [
    "a many-to-many field that deletes rows",
    [labelled(looseManyToMany(() => labels, { onDelete: "cascade" }))],
    'resource note, field labels: onDelete is "restrict", or left out',
  ],
  [
    "a field with the name of the ids",
    [resource("note", { fields: { labels: manyToMany(() => labels), labelIds: text() } }), labels],
    "resource note, field labelIds: this name is used twice; rename one",
  ],
]);

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
