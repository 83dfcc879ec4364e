// Invalid declarations of computed statuses, markOnDelete, actions and nested collections stop the start with one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, computedStatus, integer, json, text, timestamp } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { BodyValidator } from "../../src/engine/validation/body-validator.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";

/** Declares a resource without type checks, as JavaScript does. */
const declareUntyped = resource as unknown as (name: string, declaration: object) => Resource;

const title = text({ max: 100 });
const endsAt = timestamp({ optional: true });
const clubs = resource("club", { fields: { title } });
const run = async (): Promise<object> => ({});
const actionRule = "as a noun in lowercase with hyphens, for example rotations";
const markRule = "markOnDelete sets it, so write timestamp({ optional: true, readOnly: true })";

/** An invalid declaration of a resource named `pass`, and the error without `resource pass`. */
const onePass: readonly (readonly [fact: string, declaration: object, line: string])[] = [
  [
    "a computed status without rules",
    { fields: { status: computedStatus("open", []) } },
    ', field status: add at least one rule: { status: "expired", from: "expiresAt" }',
  ],
  [
    "a status that is listed twice",
    { fields: { endsAt, status: computedStatus("open", [{ status: "open", from: "endsAt" }]) } },
    ", field status: a status is listed twice; remove one",
  ],
  [
    "a status without a name",
    { fields: { endsAt, status: computedStatus("", [{ status: "ended", from: "endsAt" }]) } },
    ", field status: write every status as a word",
  ],
  [
    "a status from a field that is not a timestamp",
    { fields: { title, status: computedStatus("open", [{ status: "ended", from: "title" }]) } },
    ", field status: title is not a timestamp; name a timestamp field",
  ],
  [
    "a status from an unknown field",
    { fields: { status: computedStatus("open", [{ status: "ended", from: "endsAt" }]) } },
    ", field status: endsAt is not a timestamp; name a timestamp field",
  ],
  ...[-1, Number.NaN, Infinity, 1e12].map(
    (secondsBefore) =>
      [
        `a state ${secondsBefore} seconds before a moment`,
        {
          fields: {
            endsAt,
            status: computedStatus("open", [{ status: "ended", from: "endsAt", secondsBefore }]),
          },
        },
        ", field status: secondsBefore of ended is a number of seconds from 0 to 3162240000",
      ] as const,
  ),
  [
    "a sort by a computed status",
    {
      fields: { endsAt, status: computedStatus("open", [{ status: "ended", from: "endsAt" }]) },
      sort: ["status"],
    },
    ", field status: a computed status changes with time; sort by its timestamp",
  ],
  [
    "a field that is immutable and read-only",
    { fields: { title: text({ immutable: true, readOnly: true }) } },
    ", field title: is set by hooks only, so it cannot be immutable; remove one of the two",
  ],
  [
    "a read-only field with a computed default",
    { fields: { title: text({ readOnly: true, default: () => "x" }) } },
    ", field title: is set by hooks only, so its default must be a constant; compute the value in a hook",
  ],
  [
    "an invalid schema",
    { fields: { meta: { kind: "json", options: { schema: "object" } } } },
    ', field meta: schema is a JSON Schema, for example { type: "object" }',
  ],
  [
    "an optional value whose schema has no type",
    { fields: { meta: json({ optional: true, schema: { enum: [1, 2] } }) } },
    ", field meta: is optional, so its schema needs a type",
  ],
  [
    "a validate option that is not a function",
    { fields: { title }, validate: {} },
    ": validate is a function of the body",
  ],
  [
    "a markOnDelete without a field name",
    { fields: { title }, markOnDelete: {} },
    ': write markOnDelete as the name of a timestamp, "deletedAt"',
  ],
  [
    "a markOnDelete that names an unknown field",
    { fields: { title }, markOnDelete: "goneAt" },
    ", markOnDelete: there is no field goneAt; use one of id, title, createdAt, updatedAt",
  ],
  ...(
    [
      ["is not a timestamp", text({ optional: true, readOnly: true })],
      ["callers can write", timestamp({ optional: true })],
      ["is never null", timestamp({ readOnly: true, default: "now" })],
    ] as const
  ).map(
    ([fact, goneAt]) =>
      [
        `a mark that ${fact}`,
        { fields: { goneAt }, markOnDelete: "goneAt" },
        `, field goneAt: ${markRule}`,
      ] as const,
  ),
  ...["Renew", "renew_it", "-x", "x-", "a--b", "7days", "a/b", "", "renéwals"].map(
    (segment) =>
      [
        `an action called '${segment}'`,
        { fields: { title }, actions: { [segment]: { input: {}, run } } },
        `: write the action ${segment} ${actionRule}`,
      ] as const,
  ),
  [
    "an action with a verb of two words",
    { fields: { title }, actions: { renewals: { verb: "renew it", input: {}, run } } },
    ": write the verb of the action renewals in camelCase, for example renew",
  ],
  [
    "an action without run",
    { fields: { title }, actions: { renewals: { input: {} } } },
    ": the action renewals needs input, which may be {}, and run",
  ],
  [
    "an action whose run has several arguments",
    {
      fields: { title },
      actions: { renewals: { input: {}, run: (row: object, _input: object) => row } },
    },
    ": run of the action renewals has one argument now; write run: ({ current, input, rows, caller, now }) => ...",
  ],
  [
    "an action on something else",
    { fields: { title }, actions: { renewals: { on: "rows", input: {}, run } } },
    ': the action renewals is on: "row", which is the default, or on: "collection"',
  ],
  [
    "an action on a row with an answer",
    { fields: { title }, actions: { renewals: { input: {}, answer: { title }, run } } },
    ': the action renewals returns its row; remove answer, or write on: "collection"',
  ],
  [
    "an action with an answer that has a default",
    {
      fields: { title },
      actions: {
        renewals: { on: "collection", input: {}, answer: { months: integer({ default: 1 }) }, run },
      },
    },
    ", field renewals.months: run of the action returns its value; remove default",
  ],
  [
    "an action without input",
    { fields: { title }, actions: { renewals: { run } } },
    ": the action renewals needs input, which may be {}, and run",
  ],
  [
    "an action with a read-only input",
    { fields: { title }, actions: { renewals: { input: { months: integer({ readOnly: true }) }, run } } },
    ", field renewals.months: the input of an action comes from its caller; remove readOnly",
  ],
  [
    "an action with a computed status as input",
    {
      fields: { title },
      actions: {
        renewals: { input: { at: endsAt, is: computedStatus("open", [{ status: "x", from: "at" }]) }, run },
      },
    },
    ", field renewals.is: the input of an action comes from its caller; remove the computed status",
  ],
  [
    "an action with an input that is not a field",
    { fields: { title }, actions: { renewals: { input: { months: 3 }, run } } },
    ", field renewals.months: write it with text(), integer(), choice() or another kind",
  ],
  [
    "an action with a hyphen in the name of an input",
    { fields: { title }, actions: { renewals: { input: { "how-long": title }, run } } },
    ", field renewals.how-long: write the name as one word in camelCase, for example dueAt",
  ],
  [
    "a collection nested under a field that is not a reference",
    { fields: { title }, nestedUnder: ["title"] },
    ", nestedUnder: title is not a reference; name a belongsTo field, or tenant",
  ],
  [
    "a collection nested under a reference that is internal",
    {
      fields: { title, club: belongsTo(() => clubs, { internal: true, optional: true }) },
      nestedUnder: ["club"],
    },
    ", nestedUnder: club is internal; name a belongsTo field, or tenant",
  ],
  [
    "a nested collection of a resource without a list",
    { fields: { title }, nestedUnder: "tenant" },
    ': write nestedUnder as a list of references, ["owner"]',
  ],
  [
    "a collection nested under the tenant twice",
    { fields: { title }, nestedUnder: ["tenant", "tenant"] },
    ": the path /v1/tenants/{id}/passes is taken by pass; rename one",
  ],
];

const club = belongsTo(() => clubs);
const several: readonly (readonly [fact: string, resources: readonly Resource[], line: string])[] = [
  ...onePass.map(
    ([fact, declaration, line]) =>
      [fact, [declareUntyped("pass", declaration)], `resource pass${line}`] as const,
  ),
  [
    "a collection nested under two references to one resource",
    [clubs, declareUntyped("pass", { fields: { home: club, away: club }, nestedUnder: ["home", "away"] })],
    "resource pass: the path /v1/clubs/{id}/passes is taken by pass; rename one",
  ],
  [
    "a collection nested under its own parent again",
    [clubs, declareUntyped("pass", { parent: clubs, fields: { title }, nestedUnder: ["club"] })],
    "resource pass: the path /v1/clubs/{id}/passes is taken by pass; rename one",
  ],
  [
    "an action with the path of a nested collection",
    [
      declareUntyped("club", { fields: { title }, actions: { passes: { input: {}, run } } }),
      declareUntyped("pass", { fields: { club: belongsTo(() => clubs) }, nestedUnder: ["club"] }),
    ],
    "resource pass: the path /v1/clubs/{id}/passes is taken by club; rename one",
  ],
  [
    "an action with the path of a child collection",
    [
      declareUntyped("pass", { parent: clubs, fields: { title } }),
      declareUntyped("club", { fields: { title }, actions: { passes: { input: {}, run } } }),
    ],
    "resource pass: the path /v1/clubs/{id}/passes is taken by club; rename one",
  ],
  [
    "rows that are kept with a required reference to a deleted row",
    [
      clubs,
      declareUntyped("pass", {
        fields: {
          club: belongsTo(() => clubs, { onDelete: "cascade" }),
          goneAt: timestamp({ optional: true, readOnly: true }),
        },
        markOnDelete: "goneAt",
      }),
    ],
    "resource pass, field club: its rows are kept when the row that they refer to is deleted, so it must be optional",
  ],
  [
    "rows of which something else is to become",
    [clubs, declareUntyped("pass", { fields: { club: { ...club, options: { onDelete: "null" } } } })],
    'resource pass, field club: onDelete is "cascade" or "setNull", or left out',
  ],
  [
    "a required reference that is to become null",
    [clubs, declareUntyped("pass", { fields: { club: belongsTo(() => clubs, { onDelete: "setNull" }) } })],
    'resource pass, field club: onDelete: "setNull" needs optional: true',
  ],
  ...(
    [
      ["that does not compile", { type: "objekt" }, /schema is invalid/],
      ["with an unknown keyword", { type: "object", colour: 1 }, /strict mode: unknown keyword: "colour"/],
      [
        "with an unresolved reference",
        { type: "object", properties: { a: { $ref: "#/nowhere" } } },
        /can't resolve/,
      ],
    ] as const
  ).map(([fact, schema, cause]) => {
    const line = `resource pass, field meta: its schema is not valid: ${cause.source}`;
    return [
      `a schema ${fact}`,
      [declareUntyped("pass", { fields: { meta: json({ schema }) } })],
      line,
    ] as const;
  }),
  [
    "a default that does not match its schema",
    [declareUntyped("pass", { fields: { meta: json({ schema: { type: "array" }, default: {} }) } })],
    "resource pass, field meta: its default must be a list",
  ],
  [
    "a default of an action's input that breaks its rules",
    [
      declareUntyped("pass", {
        fields: { title },
        actions: {
          renewals: { input: { why: { kind: "text", options: { pattern: /a/, default: "b" } } }, run },
        },
      }),
    ],
    "resource pass, field renewals.why: its default must match ^(?:a)$",
  ],
];

for (const [fact, resources, line] of several) {
  test(`${fact} is refused`, () => {
    const named = [...new Map([clubs, ...resources].map((each) => [each.name, each])).values()];
    assert.throws(
      () => new BodyValidator(buildModel(app({ name: "Wrong", resources: named }), [])),
      (error) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.ok(error.message === line || new RegExp(`^${line}`).test(error.message), error.message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
}

test("a resource with exposed: false reserves no path", () => {
  const hidden = declareUntyped("pass", {
    exposed: false,
    parent: clubs,
    fields: { title },
    nestedUnder: ["tenant"],
  });
  const other = declareUntyped("badge", { plural: "passes2", parent: clubs, fields: { title } });
  assert.ok(buildModel(app({ name: "Right", resources: [clubs, hidden, other] }), []));
});
