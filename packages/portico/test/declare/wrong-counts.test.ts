// Invalid declarations of counts stop the start with one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, choice, computedStatus, count, json, text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { validateCounts } from "../../src/query/count.ts";

/** Without type checks, as JavaScript does. */
const anyCount = count as unknown as (of: unknown, options?: object) => ReturnType<typeof count>;

/** A count of passes, and the error. */
const wrong: readonly (readonly [fact: string, field: object, line: string])[] = [
  [
    "no function",
    anyCount("passes"),
    'resource club, field passes: write count(() => issues, { where: { status: "open" } })',
  ],
  [
    "no resource",
    anyCount(() => undefined),
    "resource club, field passes: counts nothing, which the app does not list; add it to resources",
  ],
  [
    "a resource that the app does not list",
    anyCount(() => resource("other", { fields: {} })),
    "resource club, field passes: counts other, which the app does not list; add it to resources",
  ],
  [
    "a resource that is not exposed",
    anyCount(() => hidden),
    "resource club, field passes: counts hidden, which no caller may read, because it is not exposed; count another",
  ],
  [
    "a resource that does not refer to it",
    anyCount(() => alone),
    "resource club, field passes: counts alones, which do not refer to club; count rows that do",
  ],
  [
    "a resource with several references to it",
    anyCount(() => passes),
    "resource club, field passes: passes refer to club by home, guest; choose one with by",
  ],
  [
    "another field as the reference",
    anyCount(() => passes, { by: "title" }),
    "resource club, field passes: by names title, which is not a reference to club; use home, guest",
  ],
  [
    "an unknown option",
    anyCount(() => passes, { by: "home", optional: true }),
    "resource club, field passes: unknown option optional; use some of where, by, kept, description, deprecated",
  ],
  [
    "a condition that is none",
    anyCount(() => passes, { by: "home", where: "open" }),
    'resource club, field passes: where is a condition on the counted rows, { status: "open" }',
  ],
  [
    "an unknown field",
    anyCount(() => passes, { by: "home", where: { colour: "red" } }),
    "resource pass, field colour: where of the count club.passes names it, but there is no such field; use one of id, title, status, extras, state, homeId, guestId, createdAt, updatedAt, home, guest",
  ],
  [
    "a value that no row has",
    anyCount(() => passes, { by: "home", where: { status: "lost" } }),
    "resource pass, field status: where of the count club.passes compares it with a value that is not one of open, used; use one of open, used, or a list of such values",
  ],
  [
    "JSON",
    anyCount(() => passes, { by: "home", where: { extras: {} } }),
    "resource pass, field extras: where of the count club.passes names it, but JSON and lists of numbers with fractions cannot be compared; use another field",
  ],
  [
    "an undefined value",
    anyCount(() => passes, { by: "home", where: { OR: [{ status: undefined }] } }),
    "resource pass: where of the count club.passes compares with undefined; name a value",
  ],
  [
    "a value that is null",
    anyCount(() => passes, { by: "home", where: { title: null } }),
    "resource pass, field title: where of the count club.passes compares it with null, which matches no row; write { isNull: true } for rows without a value, or undefined for a value that is not known",
  ],
  [
    "rows by rows that are related to them, kept",
    anyCount(() => passes, { by: "home", where: { NOT: { guest: {} } }, kept: true }),
    "resource club, field passes: a kept count compares fields of the counted rows only; remove the related rows, or kept",
  ],
  [
    "rows by a status that changes with time, kept",
    anyCount(() => passes, { by: "home", where: { OR: [{ state: "over" }] }, kept: true }),
    "resource club, field passes: a kept count does not change with time; compare timestamps, or remove kept",
  ],
  [
    "rows by many values, kept",
    anyCount(() => passes, {
      ...{ by: "home", kept: true },
      where: { title: Array.from({ length: 21 }, (_, index) => `title ${index}`) },
    }),
    "resource club, field passes: a kept count compares title with at most 20 values; use fewer",
  ],
  [
    "rows that a policy hides from some, kept",
    anyCount(() => secrets, { kept: true }),
    "resource club, field passes: a policy decides who sees which secrets, but a kept count is the same for everybody; remove kept",
  ],
  [
    "rows by another reference than that of their policy, kept",
    anyCount(() => inherited, { by: "club", kept: true }),
    "resource club, field passes: a policy decides who sees which inheriteds, but a kept count is the same for everybody; remove kept",
  ],
];

const clubs: Resource = resource("club", { fields: {} });
const hidden = resource("hidden", { fields: { home: belongsTo(() => clubs) }, exposed: false });
const alone = resource("alone", { fields: {} });
const secrets = resource("secret", { fields: { home: belongsTo(() => clubs) }, policy: () => true });
const inherited = resource("inherited", { parent: secrets, fields: { club: belongsTo(() => clubs) } });
const passes = resource("pass", {
  plural: "passes",
  fields: {
    title: text({ max: 100 }),
    status: choice(["open", "used"]),
    extras: json({ default: {} }),
    state: computedStatus("open", [{ status: "over", from: "createdAt" }]),
    home: belongsTo(() => clubs),
    guest: belongsTo(() => clubs),
  },
});

for (const [fact, field, line] of wrong) {
  test(`a count of ${fact} stops the start`, () => {
    const declared = resource("club", { fields: { passes: field } as Resource["fields"] });
    const start = (): void =>
      validateCounts(
        buildModel(
          app({ name: "Passes", resources: [declared, passes, hidden, alone, secrets, inherited] }),
          [],
        ),
      );
    assert.throws(start, new OperatorError(line));
  });
}

test("an action takes no count", () => {
  const input = { passes: anyCount(() => passes) } as never;
  const declared = resource("club", {
    fields: {},
    actions: { closings: { input, run: async () => ({}) as never } },
  });
  assert.throws(
    () => buildModel(app({ name: "Passes", resources: [declared, passes] }), []),
    new OperatorError(
      "resource club, field closings.passes: the input of an action comes from its caller; remove the count",
    ),
  );
});

test("a count does not share the name of a reference", () => {
  const declared = resource("club", {
    fields: { homeId: anyCount(() => passes), home: belongsTo(() => clubs) },
  });
  assert.throws(
    () => buildModel(app({ name: "Passes", resources: [declared, passes, hidden] }), []),
    new OperatorError("resource club, field homeId: also the name of a reference; rename one"),
  );
});
