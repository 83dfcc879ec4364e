// The end of the range of texts with a prefix.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { prefixEnd } from "../../src/lib/prefix-end.ts";

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "b", "\u{d7ff}", "\u{e000}", "\u{10ffff}", "é"),
    fc.constantFrom("z", "🚀"),
  ),
  maxLength: 4,
});

/** The order of UTF-8 bytes. */
const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

test("a text begins with a prefix exactly if it is between the prefix and its end", () => {
  fc.assert(
    fc.property(text, text, fc.boolean(), (prefix, other, isJoined) => {
      const candidate = isJoined ? prefix + other : other;
      const end = prefixEnd(prefix);
      const isWithin = compare(candidate, prefix) >= 0 && (end === undefined || compare(candidate, end) < 0);
      assert.equal(isWithin, candidate.startsWith(prefix));
    }),
    { numRuns: 5_000 },
  );
});

test("the last character of Unicode is carried over, and surrogates are skipped", () => {
  assert.equal(prefixEnd("a\u{10ffff}"), "b");
  assert.equal(prefixEnd("\u{10ffff}"), undefined);
  assert.equal(prefixEnd(""), undefined);
  assert.equal(prefixEnd("\u{d7ff}"), "\u{e000}");
});
