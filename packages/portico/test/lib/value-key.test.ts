// Values that are not the same never share a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { valueKey } from "../../src/lib/value-key.ts";

test("values that JSON writes alike are told apart", () => {
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

test("a hole of a list is undefined", () => {
  assert.equal(valueKey(new Array(1)), valueKey([undefined]));
});

test("what cannot be told apart is refused", () => {
  for (const value of [() => {}, Symbol("a"), new Map(), /a/]) assert.throws(() => valueKey(value));
});

test("random values share a text only where they are the same", () => {
  const value = fc.anything({ withDate: true, withBigInt: true, maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (one, other) => {
      if (valueKey(one) === valueKey(other)) assert.deepStrictEqual(comparable(one), comparable(other));
    }),
  );
});

/** Holes are undefined, and objects without a prototype are like others. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, comparable);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
}
