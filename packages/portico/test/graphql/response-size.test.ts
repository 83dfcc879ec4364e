// The size of a response whose fields are read one by one.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ResponseSize } from "../../src/graphql/execute/response-size.ts";
import { AnswerTooLarge, maxAnswerBytes } from "../../src/query/answer-size.ts";

test("texts are accepted up to exactly 16 MiB, whatever their characters", () => {
  const text = fc
    .tuple(fc.constantFrom("a", "é", "€", "😀"), fc.integer({ min: 0, max: maxAnswerBytes / 8 }))
    .map(([character, length]) => character.repeat(length));
  // The last text fills the response, or exceeds it by one byte.
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.boolean(), (texts, exceeds) => {
      const size = new ResponseSize();
      let bytes = 0;
      for (const each of texts) {
        const after = bytes + Buffer.byteLength(each);
        if (after > maxAnswerBytes) break;
        size.add(each);
        bytes = after;
      }
      const rest = "a".repeat(maxAnswerBytes - bytes);
      if (!exceeds) {
        size.add(rest);
        size.requireRoom();
        return;
      }
      assert.throws(() => size.add(`${rest}a`), AnswerTooLarge);
      assert.throws(() => size.requireRoom(), AnswerTooLarge);
    }),
    { numRuns: 30 },
  );
});
