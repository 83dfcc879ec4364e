// The cursor codec: what it signs, and what it accepts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { boolean, integer, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { Problem } from "../../src/errors.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Value } from "../../src/query/condition.ts";
import { CursorCodec, type ListIdentity, listKey } from "../../src/query/cursor.ts";
import type { Sort } from "../../src/query/read.ts";

const fields = {
  title: text({ max: 255 }),
  subtitle: text({ max: 255 }),
  name: text({ max: 255 }),
  rank: integer({ optional: true }),
  isOpen: boolean(),
};
const sort = ["title", "subtitle", "name", "rank", "isOpen"] as const;
const things = resource("thing", { fields, sort, filter: ["title", "rank"] });
const thing = buildModel(app({ name: "Cursors", resources: [things] }), []).resource.get("thing")!;

const sortBy = (name: string, isDescending = false): Sort => [
  { attribute: thing.attribute.get(name)!, isDescending },
];
const [older, newer] = ["o".repeat(32), "n".repeat(32)];
const codec = new CursorCodec([newer]);
/** The codec of another process, which has not cached what `codec` encoded. */
const reader = (): CursorCodec => new CursorCodec([newer]);
const id = newId("thing");

const invalid = (use: () => unknown): void =>
  assert.throws(use, (error) => error instanceof Problem && error.code === "invalid_cursor");

for (const [name, value] of [
  ["createdAt", "2026-11-21T09:30:00.000Z"],
  ["title", 'Ünïcode \u{1f680} "quoted"'],
  ["title", ""],
  ["rank", 0],
  ["rank", -5],
  ["rank", null],
  ["isOpen", false],
] as const satisfies readonly (readonly [string, Value])[]) {
  test(`a cursor of a sort by ${name} is decoded to ${JSON.stringify(value)}`, () => {
    const token = codec.encode("list", sortBy(name), { values: [value], id });
    assert.match(token, /^[\w-]+$/);
    const other = reader();
    // Decoded by another process, twice, and by the process that encoded it.
    for (const each of [other, other, codec])
      assert.deepEqual(each.decode("list", sortBy(name), token), { values: [value], id });
  });
}

test("a cursor is refused for another list, and with another secret", () => {
  const token = codec.encode("list", sortBy("title"), { values: ["a"], id });
  for (const each of [codec, reader()]) invalid(() => each.decode("other list", sortBy("title"), token));
  invalid(() => new CursorCodec([older]).decode("list", sortBy("title"), token));
});

test("of two secrets the first one signs, and both verify", () => {
  const both = new CursorCodec([newer, older]);
  const position = { values: ["a"], id };
  const old = new CursorCodec([older]).encode("list", sortBy("title"), position);
  assert.deepEqual(both.decode("list", sortBy("title"), old), position);
  assert.deepEqual(
    reader().decode("list", sortBy("title"), both.encode("list", sortBy("title"), position)),
    position,
  );
});

test("a value of the wrong type is refused even if the signature is valid", () => {
  // Null is valid for a nullable field only; a text is not nullable here.
  const token = codec.encode("list", sortBy("title"), { values: [null], id });
  invalid(() => reader().decode("list", sortBy("title"), token));
  invalid(() =>
    reader().decode("list", sortBy("rank"), codec.encode("list", sortBy("rank"), { values: ["1"], id })),
  );
  invalid(() =>
    reader().decode(
      "list",
      sortBy("title"),
      codec.encode("list", sortBy("title"), { values: ["a"], id: "x" }),
    ),
  );
});

test("a cursor of several sorts has the values of all of them", () => {
  const sort: Sort = [...sortBy("rank", true), ...sortBy("title"), ...sortBy("isOpen")];
  const token = codec.encode("list", sort, { values: [null, "a", false], id });
  const payload = JSON.parse(Buffer.from(token, "base64url").toString());
  assert.deepEqual({ ...payload, _mac: "" }, { rank: null, title: "a", isOpen: false, id, _mac: "" });
  assert.deepEqual(reader().decode("list", sort, token), { values: [null, "a", false], id });
  for (const part of [sortBy("rank", true), sortBy("title"), sort.slice(0, 2) as unknown as Sort])
    invalid(() => reader().decode("list", part, token));
});

test("a cursor of the longest sort values is accepted", () => {
  const texts: Sort = [...sortBy("title"), ...sortBy("subtitle"), ...sortBy("name")];
  // JSON escapes such a character with six bytes.
  const position = { values: texts.map(() => "\u0001".repeat(255)), id };
  const token = codec.encode("list", texts, position);
  assert.deepEqual(reader().decode("list", texts, token), position);
});

test("a single sort has the keys and cursors of earlier versions", () => {
  const list = listKey({
    ...{ tenantId: "tenant_1", collection: "things", conditions: [], words: ["a"] },
    sort: sortBy("title", true),
  });
  assert.equal(list, '["tenant_1","things","title",true,[],["a"]]');
  const token =
    "eyJ0aXRsZSI6ImEiLCJpZCI6InRoaW5nXzAxazAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwIiwiX21hYyI6InM0OEdzMjBpTmR2ZXgxRkM5eVFndEgifQ";
  const position = { values: ["a"], id: "thing_01k00000000000000000000000" };
  assert.deepEqual(reader().decode(list, sortBy("title", true), token), position);
  assert.equal(codec.encode(list, sortBy("title", true), position), token);
});

test("lists that differ in any respect have different keys", () => {
  const condition = (name: string, operator: "in" | "gte", ...values: Value[]) => ({
    attribute: thing.attribute.get(name)!,
    operator,
    values,
  });
  const base: ListIdentity = {
    tenantId: "tenant_a",
    collection: "things",
    sort: sortBy("title"),
    conditions: [],
    words: [],
  };
  const keys = [
    base,
    { ...base, tenantId: "tenant_b" },
    { ...base, collection: "x/things" },
    { ...base, sort: sortBy("title", true) },
    { ...base, sort: sortBy("rank") },
    { ...base, sort: [sortBy("title")[0], sortBy("rank")[0]] as const },
    { ...base, sort: [sortBy("title")[0], sortBy("rank", true)[0]] as const },
    { ...base, sort: [sortBy("rank")[0], sortBy("title")[0]] as const },
    { ...base, words: ["a"] },
    { ...base, words: ["b"] },
    { ...base, words: ["a", "b"] },
    { ...base, conditions: [condition("title", "in", "a")] },
    { ...base, conditions: [condition("title", "gte", "a")] },
    { ...base, conditions: [condition("title", "in", "a", "b")] },
    { ...base, conditions: [condition("title", "in", "a,b")] },
    { ...base, conditions: [condition("rank", "in", 1)] },
    { ...base, conditions: [condition("title", "in", "1")] },
  ].map(listKey);
  assert.equal(new Set(keys).size, keys.length);
});

test("the order of conditions and of their values does not matter", () => {
  const one = { attribute: thing.attribute.get("title")!, operator: "in", values: ["a", "b"] } as const;
  const two = { attribute: thing.attribute.get("rank")!, operator: "in", values: [1] } as const;
  const key = (conditions: ListIdentity["conditions"]) =>
    listKey({ tenantId: "t", collection: "things", sort: sortBy("title"), conditions, words: [] });
  assert.equal(key([one, two]), key([two, { ...one, values: ["b", "a"] }]));
});
