// Invalid filters, sorts, searches, unique fields and indexes stop the start with one line that names them and how to fix it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { choice, integer, json, list, number, text } from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { areRefused, declareUntyped, title } from "./refused-declarations.ts";

const indexed = {
  title,
  kind: choice(["a", "b"]),
  count: integer(),
  body: text(),
  hidden: text({ max: 20, internal: true }),
};
const longText = text({ max: 200 });
const longTexts = { title: longText, subtitle: longText, name: longText, kind: choice(["a", "b"]) };

areRefused([
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
    "a sort by a list",
    [resource("post", { fields: { tags: list(text({ max: 20 })) }, filter: ["tags"], sort: ["tags"] })],
    "resource post, field tags: a list can be filtered by, but not sorted by, unique or indexed; remove it there",
  ],
  [
    "a filter by a list of long texts",
    [resource("post", { fields: { tags: list(text()) }, filter: ["tags"] })],
    "resource post, field tags: is filtered, so its items need max: 255 or less",
  ],
  [
    "a range of a list",
    [resource("post", { fields: { sizes: list(integer()) }, filter: [range("sizes")] })],
    'resource post, filter: sizes is a list, which is filtered by its elements; use "sizes"',
  ],
  [
    "a filter by a list of fractions",
    [resource("post", { fields: { weights: list(number()) }, filter: ["weights"] })],
    "resource post, filter: weights is a list of numbers with fractions, which cannot be compared; remove it",
  ],
  [
    "a search in texts without max",
    [resource("post", { fields: { body: text() }, search: ["body"] })],
    "resource post, search: its texts may have Infinity characters in total; set max so that the total is 200000 or less",
  ],
]);

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
