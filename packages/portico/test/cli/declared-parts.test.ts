// What `portico dev` says about the difference between two versions of the declarations.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { changedParts, declaredParts } from "../../src/cli/development/declared-parts.ts";
import { app } from "../../src/declare/app.ts";
import { belongsTo, choice, integer, text } from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { route } from "../../src/declare/route.ts";

const partsOf = (resources: readonly Resource[], routes: Parameters<typeof app>[0]["routes"] = []) =>
  declaredParts(app({ name: "Notes", resources, routes }));

test("each part that was added, removed or changed has a line", () => {
  const people = resource("person", { fields: { name: text() } });
  const before = resource("note", {
    fields: { title: text({ max: 100 }), status: choice(["draft", "public"]), gone: integer() },
    filter: ["status"],
    sort: ["title"],
    policy: () => true,
  });
  const after = resource("note", {
    fields: {
      title: text({ max: 200 }),
      status: choice(["draft", "public"]),
      author: belongsTo(() => people),
    },
    filter: ["status", range("createdAt")],
    unique: [["authorId", "title"]],
    policy: ({ caller }) => caller.kind === "user",
  });
  const stats = route("GET /v1/stats", { scope: null, answer: { open: integer() } }, () => ({ open: 1 }));
  deepEqual(changedParts(partsOf([before]), partsOf([people, after], [stats])), [
    "resource note, field title: text, max: 100 -> text, max: 200",
    "resource note, field gone: removed",
    "resource note, sort title: removed",
    "resource note, policy: changed",
    "resource note, field author: added, belongsTo person",
    "resource note, filter createdAt (range): added",
    "resource note, unique authorId, title: added",
    "resource person: added",
    "route GET /v1/stats: added",
  ]);
});

test("fields have a line exactly if they differ", () => {
  const fields = fc.dictionary(fc.constantFrom("one", "two", "three", "four"), fc.nat(3));
  const declared = (each: Readonly<Record<string, number>>) =>
    partsOf([
      resource("note", {
        fields: Object.fromEntries(Object.entries(each).map(([name, max]) => [name, text({ max })])),
      }),
    ]);
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const lines = changedParts(declared(before), declared(after));
      const names = new Set([...Object.keys(before), ...Object.keys(after)]);
      const changed = [...names].filter((name) => before[name] !== after[name]);
      deepEqual(lines.map((line) => /field (\w+):/.exec(line)?.[1]).sort(), changed.sort());
    }),
  );
});
