// Texts are equal if their UTF-8 bytes are, for all texts that a request can contain.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { constantTimeEqual } from "../../src/lib/constant-time-equal.ts";

test("the result is that of ===", () => {
  const anyText = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      assert.equal(constantTimeEqual(one, other), one === other);
      assert.equal(constantTimeEqual(one, `${one}`), true);
    }),
  );
});
