// The bounded map, by count and by weight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedMap } from "../../src/lib/bounded-map.ts";

test("the entry that was added first goes first, and one that is set again counts as new", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], [3, undefined, 4]);
});

test("entries count by their weight, and one that is too heavy by itself is not kept", () => {
  const map = new BoundedMap<string, string>(10, (_key, value) => value.length);
  map.set("a", "1234");
  map.set("b", "1234");
  map.set("c", "12345678901");
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], ["1234", "1234", undefined]);
  map.set("d", "123456");
  assert.deepEqual([map.get("a"), map.get("b"), map.get("d")], [undefined, "1234", "123456"]);
});
