// The HMAC of cursors against Node's own.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Hmac } from "../../src/lib/hmac.ts";

test("every text under every ASCII key has the code that node:crypto gives it", () => {
  const ascii = fc.string({ unit: "binary-ascii", maxLength: 64 });
  fc.assert(
    fc.property(ascii, fc.string({ unit: "grapheme" }), (key, text) => {
      assert.equal(new Hmac(key).sign(text), createHmac("sha256", key).update(text).digest("base64url"));
    }),
  );
});
