// How text is split into words for search.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { searchWords } from "../../src/query/search-terms.ts";

const cut: readonly (readonly [string, readonly string[]])[] = [
  ["Déjà vu, 2×", ["deja", "vu", "2"]],
  ["", []],
  [" \t\n", []],
  ["!?.,;'\"*&|()", []],
  ["one One ONE", ["one"]],
  ["snake_case-and.dots", ["snake", "case", "and", "dots"]],
  ["ﬁne ½ Ⅷ", ["fine", "1", "2", "viii"]],
  ["東京 タワー", ["東京", "タワー"]],
  ["ｆｕｌｌ", ["full"]],
  ["a\u0000b", ["a", "b"]],
  ["\ud83d\ude80 rocket", ["rocket"]],
  ["\u0301\u0302", []],
  ["Привет", ["привет"]],
  ["İstanbul", ["istanbul"]],
];

for (const [text, words] of cut) {
  test(`${JSON.stringify(text)} has the words ${JSON.stringify(words)}`, () => {
    assert.deepEqual(searchWords(text), words);
  });
}

test("a word is cut after 64 characters, between two code points", () => {
  assert.deepEqual(searchWords("a".repeat(100)), ["a".repeat(64)]);
  assert.deepEqual(searchWords("\u{20000}".repeat(100)), ["\u{20000}".repeat(64)]);
});

test("ASCII text has the same words as any other text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
      // A combining accent, which is not part of any word.
      assert.deepEqual(searchWords(text), searchWords(`${text}\u0301`));
    }),
  );
});
