// Different values never have the same key.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { valueKey } from "../../src/lib/value-key.ts";

test("values with the same JSON text have different keys", () => {
  const date = new Date(0);
  const values = [
    {},
    { authorId: undefined },
    { authorId: null },
    { authorId: "undefined" },
    { authorId: Number.NaN },
    { authorId: Number.POSITIVE_INFINITY },
    { authorId: 0 },
    { authorId: -0 },
    { authorId: "0" },
    { authorId: 0n },
    { authorId: date },
    { authorId: date.toISOString() },
    { authorId: new Date(Number.NaN) },
    { authorId: [] },
    { authorId: [undefined] },
    { authorId: [null] },
    { authorId: {} },
    [],
    undefined,
    null,
    "{}",
  ];
  assert.equal(new Set(values.map(valueKey)).size, values.length);
});

test("a hole in a list counts as undefined", () => {
  assert.equal(valueKey(new Array(1)), valueKey([undefined]));
});

test("a value without a distinct key is refused", () => {
  for (const value of [() => {}, Symbol("a"), new Map(), /a/]) assert.throws(() => valueKey(value));
});

test("random values have the same key only if they are equal", () => {
  const value = fc.anything({ withDate: true, withBigInt: true, maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (one, other) => {
      if (valueKey(one) === valueKey(other)) assert.deepStrictEqual(comparable(one), comparable(other));
    }),
  );
});

/** Holes count as undefined, and objects without a prototype as plain objects. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, comparable);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
}
