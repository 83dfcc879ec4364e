// Renaming and removing members of a JSON text changes the outermost object and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { renameMembers } from "../../src/lib/rename-members.ts";

const name = fc.constantFrom("a", "b", "c", 'q"', "back\\slash", "é");

test("a renamed text parses to the object with its outermost members renamed or removed", () => {
  const names = new Map<string, string | null>([
    ["c", null],
    ["é", null],
    ["a", "b"],
    ["b", "a"],
    ['q"', "quote"],
    ["back\\slash", 's\\"'],
  ]);
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), fc.constantFrom(undefined, 1), (row, indent) => {
      const text = JSON.stringify(row, undefined, indent);
      // Parsed, because JSON has no -0.
      const expected = Object.entries(JSON.parse(text))
        .filter(([key]) => names.get(key) !== null)
        .map(([key, value]) => [names.get(key) ?? key, value]);
      const renamed = JSON.parse(renameMembers(text, names));
      assert.deepEqual(Object.entries(renamed), expected);
    }),
  );
});

test("numbers keep their spelling", () => {
  const text = '{ "a" : 1.0, "c":{"a":12345678901234567890}, "d":["a","b"] }';
  assert.equal(
    renameMembers(text, new Map([["a", "b"]])),
    '{ "b" : 1.0, "c":{"a":12345678901234567890}, "d":["a","b"] }',
  );
  const without = (...names: string[]): string =>
    renameMembers(text, new Map(names.map((each) => [each, null])));
  assert.equal(without("c"), '{ "a" : 1.0, "d":["a","b"] }');
  assert.equal(without("a", "d"), '{ "c":{"a":12345678901234567890}}');
});
