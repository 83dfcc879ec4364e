// The map that is bounded by count or weight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedMap } from "../../src/lib/bounded-map.ts";

test("the oldest entry is evicted first, and setting an entry again makes it the newest", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], [3, undefined, 4]);
});

test("entries count by their weight, and one that exceeds the bound alone is not stored", () => {
  const map = new BoundedMap<string, string>(10, (_key, value) => value.length);
  map.set("a", "1234");
  map.set("b", "1234");
  map.set("c", "12345678901");
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], ["1234", "1234", undefined]);
  map.set("d", "123456");
  assert.deepEqual([map.get("a"), map.get("b"), map.get("d")], [undefined, "1234", "123456"]);
});
