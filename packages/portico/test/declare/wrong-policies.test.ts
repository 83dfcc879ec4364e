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
import type { PolicyContext } from "../../src/declare/where.ts";
import { policyConditions } from "../../src/engine/policy.ts";
import { evaluateAll } from "../../src/engine/row-conditions.ts";
import { validatePolicies } from "../../src/engine/validate-policies.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model, ResourceModel } from "../../src/model/model.ts";

const boards = resource("board", { fields: { name: text() } });

type TriedPolicy = (context: PolicyContext) => unknown;

/** A model with one resource that has fields of every kind and this policy, which is validated as at start. */
function modelWith(policy: TriedPolicy | Readonly<Record<string, TriedPolicy>>): Model {
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
  const model = buildModel(app({ name: "Notes", resources: [boards, notes] }), []);
  validatePolicies(model);
  return model;
}

const known =
  "id, title, code, boardId, rank, weight, isOpen, dueAt, kind, progress, meta, createdAt, updatedAt, board";
const listed = "or a list of such values";
const writtenNull =
  "compares it with null, which matches no row; write { isNull: true } for rows without a value, or undefined for a value that is not known";

const wrong: readonly (readonly [fact: string, policy: TriedPolicy, line: string])[] = [
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
    "resource note, field board: its policy compares it with a string; compare boardId, or write board: { field: value }",
  ],
  [
    "an unknown field of a related row",
    () => ({ board: { colour: "red" } }),
    "resource note, field board.colour: its policy names it, but there is no such field; use one of id, name, createdAt, updatedAt, notes",
  ],
  [
    "an unknown field of a row that refers to a related row",
    () => ({ board: { notes: { some: { rank: "high" } } } }),
    "resource note, field rank: its policy compares it with a value that is not a whole number; use a whole number, or a list of such values",
  ],
  [
    "a collection without a quantifier",
    () => ({ board: { notes: { rank: 1 } } }),
    "resource note, field board.notes: its policy has rank for it, which is unknown; use some or none",
  ],
  [
    "a collection that is no object",
    () => ({ board: { notes: [] } }),
    "resource note, field board.notes: its policy names a collection; write { some: { ... } } or { none: { ... } }",
  ],
  [
    "an unknown operator",
    () => ({ rank: { above: 1 } }),
    "resource note, field rank: its policy has above for it, which is unknown; use not, in, notIn, lt, lte, gt, gte, contains, startsWith, isNull",
  ],
  [
    "no operator",
    () => ({ rank: {} }),
    "resource note, field rank: its policy compares it with {}; use not, in, notIn, lt, lte, gt, gte, contains, startsWith, isNull",
  ],
  [
    "an operator of text for a number",
    () => ({ rank: { contains: "1" } }),
    "resource note, field rank: its policy has contains for it, but it is not text; use another operator",
  ],
  [
    "an order with null",
    () => ({ rank: { gt: null } }),
    `resource note, field rank: its policy ${writtenNull}`,
  ],
  ["null for a field", () => ({ boardId: null }), `resource note, field boardId: its policy ${writtenNull}`],
  [
    "a comparison that excludes null",
    () => ({ boardId: { not: null } }),
    `resource note, field boardId: its policy ${writtenNull}`,
  ],
  [
    "a list with null",
    () => ({ NOT: { title: { in: ["a", null] } } }),
    `resource note, field title: its policy ${writtenNull}`,
  ],
  [
    "null for a related row's field",
    () => ({ board: { notes: { none: { code: null } } } }),
    `resource note, field code: its policy ${writtenNull}`,
  ],
  [
    "in without a list",
    () => ({ rank: { in: 5 } }),
    "resource note, field rank: its policy has a number for in; write a list",
  ],
  [
    "isNull that is no boolean",
    () => ({ rank: { isNull: "no" } }),
    "resource note, field rank: its policy has isNull that is not true or false",
  ],
  [
    "OR that is no list",
    () => ({ OR: { rank: 1 } }),
    "resource note, field OR: its policy has an object as OR; write a list of conditions",
  ],
  [
    "OR of something else than conditions",
    () => ({ OR: [5] }),
    "resource note: its policy has a number where a condition belongs; write { field: value }",
  ],
  [
    "too many comparisons",
    () => ({ OR: Array.from({ length: 51 }, () => ({ rank: 1, isOpen: true })) }),
    "resource note: its policy has more than 100 comparisons; simplify it",
  ],
  [
    "deep nesting",
    () => nested(8),
    "resource note: its policy is nested more than 8 levels deep; simplify it",
  ],
  [
    "an internal field",
    () => ({ secret: "x" }),
    "resource note, field secret: its policy names it, but it is internal, so events do not hold it; use another field",
  ],
  [
    "JSON",
    () => ({ meta: "x" }),
    "resource note, field meta: its policy names it, but JSON and lists of numbers with fractions cannot be compared; use another field",
  ],
  ...(
    [
      ["title", 5, "text"],
      ["code", true, "text"],
      ["boardId", new Map(), "text"],
      ["title", "\0", "text"],
      ["title", "\ud800", "text"],
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
      ["undefined", () => undefined, "undefined"],
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
        `resource note: its policy returns ${kind}; return true for all rows, false for none, or a condition, { ownerId: caller.userId }`,
      ] as const,
  ),
  [
    "an error for every caller",
    () => {
      throw new TypeError("no table\nof teams");
    },
    "resource note: its policy throws: TypeError: no table; return true, false, or a condition",
  ],
];

function assertRefused(policy: TriedPolicy, line: string): void {
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
      ({ caller }) => (isSuch(caller) ? { colour: "red" } : true),
      `resource note, field colour: its policy names it, but there is no such field; use one of ${known}`,
    ));
}

test("a policy may throw for some sample callers", () => {
  const model = modelWith(({ caller: { userId } }) => {
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

/** The conditions that a policy sets, by the names of attributes. */
function allowed(answer: unknown): readonly object[] {
  const model = modelWith(() => answer);
  return policyConditions(caller, model.resource.get("note")!).map((condition) =>
    "values" in condition
      ? { [condition.attribute.name]: [condition.operator, ...condition.values] }
      : { [condition.operator]: condition.conditions.length },
  );
}

test("true allows all rows and false none", () => {
  assert.deepEqual(allowed(true), []);
  assert.deepEqual(allowed({}), []);
  assert.deepEqual(allowed(false), [{ or: 0 }]);
});

test("undefined allows no value, and values are listed once", () => {
  const none = [{ or: 0 }];
  assert.deepEqual(allowed({ title: undefined }), none);
  assert.deepEqual(allowed({ title: { not: undefined } }), none);
  assert.deepEqual(allowed({ title: { notIn: [undefined, "a"] } }), none);
  assert.deepEqual(allowed({ rank: { gt: undefined } }), none);
  assert.deepEqual(allowed({ board: undefined }), none);
  assert.deepEqual(allowed({ OR: undefined }), none);
  assert.deepEqual(allowed({ NOT: undefined }), none);
  assert.deepEqual(allowed({ title: [] }), [{ title: ["in"] }]);
  assert.deepEqual(allowed({ title: [undefined, "a", "a"] }), [{ title: ["in", "a"] }]);
  assert.deepEqual(allowed({ title: "", isOpen: false, rank: 0 }), [
    { title: ["in", ""] },
    { isOpen: ["in", false] },
    { rank: ["in", 0] },
  ]);
});

test("null from a caller without a user matches nothing, where it is negated either", () => {
  const row = { title: null, rank: null, boardId: null, code: "a" };
  const isMet = (where: (userId: string | null) => object): boolean => {
    const model = modelWith(({ caller: { userId } }) => where(userId));
    return evaluateAll(policyConditions(caller, model.resource.get("note")!), row) === true;
  };
  for (const where of [
    (userId) => ({ boardId: userId }),
    (userId) => ({ boardId: { not: userId } }),
    (userId) => ({ boardId: [userId] }),
    (userId) => ({ boardId: { notIn: ["board_1", userId] } }),
    (userId) => ({ title: { startsWith: userId } }),
    (userId) => ({ title: { gte: userId } }),
    (userId) => ({ NOT: { boardId: userId } }),
    (userId) => ({ NOT: { boardId: { not: userId } } }),
    (userId) => ({ NOT: { OR: [{ boardId: userId }, { code: "b" }] } }),
    (userId) => ({ code: "a", OR: [{ boardId: userId }, { boardId: { not: userId } }] }),
  ] satisfies ((userId: string | null) => object)[])
    assert.equal(isMet(where), false, where.toString());
  for (const where of [
    () => ({ boardId: { isNull: true } }),
    (userId) => ({ OR: [{ boardId: userId }, { boardId: { isNull: true } }] }),
    (userId) => ({ code: ["a", userId] }),
  ] satisfies ((userId: string | null) => object)[])
    assert.equal(isMet(where), true, where.toString());
});

test("undefined matches nothing where it is negated either", () => {
  const row = { title: "a", rank: 1, boardId: null };
  for (const where of [
    { NOT: { title: undefined } },
    { NOT: { title: { not: undefined } } },
    { NOT: { title: { in: ["b", undefined] } } },
    { NOT: { OR: [{ title: undefined }, { rank: 2 }] } },
    { NOT: { NOT: { title: undefined } } },
    { NOT: { rank: { lt: undefined } } },
    { NOT: { board: undefined } },
  ])
    assert.equal(evaluateAll(policyConditions(caller, withPolicy(where)), row), false, JSON.stringify(where));
  // What is certain whatever the value is holds.
  for (const where of [
    { NOT: { title: { notIn: ["a", undefined] } } },
    { OR: [{ title: undefined }, { rank: 1 }] },
  ])
    assert.equal(evaluateAll(policyConditions(caller, withPolicy(where)), row), true, JSON.stringify(where));
});

test("operators have the conditions that the store knows", () => {
  assert.deepEqual(allowed({ title: { not: "a" } }), [{ title: ["notIn", "a"] }]);
  assert.deepEqual(allowed({ title: { isNull: true } }), [{ title: ["in", null] }]);
  assert.deepEqual(allowed({ title: { isNull: false } }), [{ title: ["notIn", null] }]);
  assert.deepEqual(allowed({ rank: { gte: 1, lt: 5 } }), [{ rank: ["gte", 1] }, { rank: ["lt", 5] }]);
  assert.deepEqual(allowed({ title: { contains: "" } }), [{ title: ["notIn", null] }]);
  assert.deepEqual(allowed({ title: { startsWith: "a" } }), [{ title: ["startsWith", "a"] }]);
  assert.deepEqual(allowed({ title: { startsWith: "\u{10ffff}" } }), [{ title: ["gte", "\u{10ffff}"] }]);
});

test("a timestamp is compared as it is stored", () => {
  assert.deepEqual(allowed({ dueAt: "2027-01-31T10:00:00+01:00" }), [
    { dueAt: ["in", "2027-01-31T09:00:00.000Z"] },
  ]);
});

test("a condition may be an object without a prototype", () => {
  assert.deepEqual(allowed(Object.assign(Object.create(null), { rank: 1 })), [{ rank: ["in", 1] }]);
});

test("a policy that throws later or returns an invalid condition is an error, and never allows all rows", () => {
  let policy: () => unknown = () => true;
  const notes = modelWith(() => policy()).resource.get("note")!;
  policy = () => ({ colour: "red" });
  assert.throws(() => policyConditions(caller, notes), OperatorError);
  policy = () => Promise.resolve(undefined);
  assert.throws(() => policyConditions(caller, notes), OperatorError);
  policy = () => undefined;
  assert.throws(() => policyConditions(caller, notes), OperatorError);
  policy = () => {
    throw new Error("unavailable");
  };
  assert.throws(
    () => policyConditions(caller, notes),
    /^Error: resource note: its policy throws: Error: unavailable$/,
  );
});

test("each policy of an operation is validated, and named", () => {
  for (const operation of ["read", "create", "update", "delete", "write"])
    assert.throws(() => modelWith({ [operation]: () => ({ colour: "red" }) }), {
      message: `resource note, field colour: its policy for ${operation} names it, but there is no such field; use one of ${known}`,
    });
});

test("a policy that reads the caller from its argument is refused", () => {
  assertRefused(
    (context) => ({ title: (context as unknown as Caller).userId }),
    "resource note: its policy reads userId from its argument, which has only the caller; write ({ caller }) => caller.userId",
  );
});

function withPolicy(where: object): ResourceModel {
  return modelWith(() => where).resource.get("note")!;
}

/** A condition with this many levels below the first. */
function nested(levels: number): object {
  return levels === 0 ? { rank: 1 } : { NOT: nested(levels - 1) };
}

test("a policy that changes the scopes of the caller, which other requests share, stops the start", () => {
  for (const change of [
    (scopes: Set<string>) => scopes.add("notes:write"),
    (scopes: Set<string>) => scopes.delete("notes:read"),
    (scopes: Set<string>) => scopes.clear(),
  ])
    assert.throws(
      () =>
        modelWith(({ caller }) => {
          change(caller.scopes as Set<string>);
          return true;
        }),
      /^OperatorError: resource note: its policy throws: TypeError: This set cannot be changed/,
    );
});

test("a policy that changes the caller, whose rows every query is limited to, stops the start", () => {
  assert.throws(
    () =>
      modelWith(({ caller }) => {
        (caller as { tenantId: string }).tenantId = "tenant_other";
        return true;
      }),
    /^OperatorError: resource note: its policy throws: TypeError: Cannot assign to read only property 'tenantId'/,
  );
});
