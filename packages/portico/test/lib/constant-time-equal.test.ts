// Texts are equal where their UTF-8 bytes are, as far as texts that can be sent go.

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
