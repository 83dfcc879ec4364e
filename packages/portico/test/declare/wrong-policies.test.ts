// Invalid policies stop the start with one line that names the resource, the field and how to fix it, in any branch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import {
  belongsTo,
  boolean,
  choice,
  computedStatus,
  id,
  integer,
  json,
  number,
  text,
  timestamp,
} from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { allowedValues } from "../../src/model/policy.ts";

const boards = resource("board", { fields: { name: text() } });

/** A model with one resource that has fields of every kind and this policy. */
function modelWith(policy: (caller: Caller) => unknown): Model {
  const notes = (resource as unknown as (name: string, declaration: object) => Resource)("note", {
    fields: {
      title: text({ max: 50, optional: true }),
      code: id({ optional: true }),
      board: belongsTo(() => boards, { optional: true }),
      rank: integer({ optional: true }),
      weight: number({ optional: true }),
      isOpen: boolean({ default: true }),
      dueAt: timestamp({ optional: true }),
      kind: choice(["plain", "rich"]),
      progress: computedStatus("early", [{ status: "late", from: "dueAt" }]),
      meta: json({ default: {} }),
      secret: text({ internal: true, default: "" }),
    },
    policy,
  });
  return buildModel(app({ name: "Notes", resources: [boards, notes] }), []);
}

const known =
  "id, title, code, boardId, rank, weight, isOpen, dueAt, kind, progress, meta, createdAt, updatedAt";
const listed = "a list of such values, or null";

const wrong: readonly (readonly [fact: string, policy: (caller: Caller) => unknown, line: string])[] = [
  [
    "an unknown field",
    () => ({ colour: "red" }),
    `resource note, field colour: its policy names it, but there is no such field; use one of ${known}`,
  ],
  [
    "a member of Object.prototype",
    () => ({ constructor: "red" }),
    `resource note, field constructor: its policy names it, but there is no such field; use one of ${known}`,
  ],
  [
    "a reference by the name of its row",
    () => ({ board: "board_1" }),
    `resource note, field board: its policy names it, but there is no such field; use one of ${known}`,
  ],
  [
    "an internal field",
    () => ({ secret: "x" }),
    "resource note, field secret: its policy names it, but it is internal, so events do not hold it; use another field",
  ],
  [
    "JSON",
    () => ({ meta: "x" }),
    "resource note, field meta: its policy names it, but JSON cannot be compared; use another field",
  ],
  ...(
    [
      ["title", 5, "text"],
      ["code", true, "text"],
      ["boardId", { id: "board_1" }, "text"],
      ["rank", "5", "a whole number"],
      ["rank", 1.5, "a whole number"],
      ["rank", 2 ** 53, "a whole number"],
      ["weight", Number.NaN, "a number"],
      ["weight", 5n, "a number"],
      ["isOpen", 1, "true or false"],
      ["dueAt", "tomorrow", "an ISO 8601 date and time"],
      ["dueAt", new Date(0), "an ISO 8601 date and time"],
      ["kind", "poor", "one of plain, rich"],
      ["progress", "over", "one of late, early"],
      ["title", ["a", ["b"]], "text"],
      ["title", () => "a", "text"],
      ["title", Symbol("a"), "text"],
    ] as const
  ).map(
    ([field, value, expected]) =>
      [
        `a ${field} that is ${String(value)}`,
        () => ({ [field]: value }),
        `resource note, field ${field}: its policy compares it with a value that is not ${expected}; use ${expected}, ${listed}`,
      ] as const,
  ),
  [
    "more than a thousand values",
    () => ({ rank: Array.from({ length: 1_001 }, (_, index) => index) }),
    "resource note, field rank: its policy has more than 1000 values; use fewer",
  ],
  ...(
    [
      ["null", () => null, "null"],
      ["true", () => true, "a boolean"],
      ["an empty text", () => "", "a string"],
      ["a list", () => [{ rank: 1 }], "a list"],
      ["a promise", async () => ({ rank: 1 }), "a promise"],
      ["a map", () => new Map([["rank", 1]]), "an object of a class"],
      ["a function", () => () => ({ rank: 1 }), "a function"],
    ] as const
  ).map(
    ([fact, policy, kind]) =>
      [
        fact,
        policy,
        `resource note: its policy returns ${kind}; return field values, { ownerId: caller.userId }, or undefined for all rows`,
      ] as const,
  ),
  [
    "an error for every caller",
    () => {
      throw new TypeError("no table\nof teams");
    },
    "resource note: its policy throws: TypeError: no table; return field values, or undefined for all rows",
  ],
];

function assertRefused(policy: (caller: Caller) => unknown, line: string): void {
  assert.throws(
    () => modelWith(policy),
    (error) => {
      assert.ok(error instanceof OperatorError, String(error));
      assert.equal(error.message, line);
      return true;
    },
  );
}

for (const [fact, policy, line] of wrong) {
  test(`a policy that returns ${fact} is refused at start`, () => assertRefused(policy, line));
}

const branches: readonly (readonly [kind: string, isSuch: (caller: Caller) => boolean])[] = [
  ["a key with an owner", ({ kind, userId }) => kind === "key" && userId !== null],
  ["a key without an owner", ({ kind, userId }) => kind === "key" && userId === null],
  [
    "a user through a client",
    ({ keyId, userId, quota }) => keyId === undefined && userId !== null && quota !== undefined,
  ],
  ["a client", ({ keyId, userId, quota }) => keyId === undefined && userId === null && quota !== undefined],
  ["a user with a role", ({ role }) => role === "member"],
  ["a publishable key", ({ kind }) => kind === "anonymous"],
  ["the server itself", ({ quota }) => quota === undefined],
  ["a caller without scopes", ({ scopes }) => scopes.size === 0],
  ["a caller with the scopes of the app", ({ scopes }) => scopes.has("notes:read")],
];

for (const [kind, isSuch] of branches) {
  test(`an invalid filter for ${kind} is found at start`, () =>
    assertRefused(
      (caller) => (isSuch(caller) ? { colour: "red" } : undefined),
      `resource note, field colour: its policy names it, but there is no such field; use one of ${known}`,
    ));
}

test("a policy may throw for some sample callers", () => {
  const model = modelWith(({ userId }) => {
    if (userId !== null) throw new Error("there is no such user");
    return { rank: 1 };
  });
  assert.equal(model.resource.get("note")!.isRestricted, true);
});

const caller: Caller = {
  kind: "key",
  tenantId: "tenant_1",
  userId: null,
  role: null,
  credentialId: "key_1",
  scopes: new Set(),
};

/** The values that a policy allows, by the names of attributes. */
function allowed(answer: unknown): object {
  const model = modelWith(() => answer);
  const values = allowedValues(model.resource.get("note")!, caller);
  return Object.fromEntries(values.map((each) => [each.attribute.name, each.values]));
}

test("undefined allows no value, null allows null, and values are listed once", () => {
  assert.deepEqual(allowed(undefined), {});
  assert.deepEqual(allowed({}), {});
  assert.deepEqual(allowed({ title: undefined }), { title: [] });
  assert.deepEqual(allowed({ title: [] }), { title: [] });
  assert.deepEqual(allowed({ title: [undefined, "a", null, "a", null] }), { title: ["a", null] });
  assert.deepEqual(allowed({ title: "", isOpen: false, rank: 0, boardId: null }), {
    title: [""],
    isOpen: [false],
    rank: [0],
    boardId: [null],
  });
});

test("a timestamp is compared as it is stored", () => {
  assert.deepEqual(allowed({ dueAt: "2027-01-31T10:00:00+01:00" }), { dueAt: ["2027-01-31T09:00:00.000Z"] });
});

test("a filter may be an object without a prototype", () => {
  assert.deepEqual(allowed(Object.assign(Object.create(null), { rank: 1 })), { rank: [1] });
});

test("a policy that throws later or returns an invalid filter is an error, and never allows all rows", () => {
  let policy: () => unknown = () => undefined;
  const notes = modelWith(() => policy()).resource.get("note")!;
  policy = () => ({ colour: "red" });
  assert.throws(() => allowedValues(notes, caller), OperatorError);
  policy = () => Promise.resolve(undefined);
  assert.throws(() => allowedValues(notes, caller), OperatorError);
  policy = () => {
    throw new Error("unavailable");
  };
  assert.throws(
    () => allowedValues(notes, caller),
    /^Error: resource note: its policy throws: Error: unavailable$/,
  );
});
