// The HMAC of cursors, compared with Node's.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Hmac } from "../../src/lib/hmac.ts";

test("the HMAC of every text with every ASCII key is that of node:crypto", () => {
  const ascii = fc.string({ unit: "binary-ascii", maxLength: 64 });
  fc.assert(
    fc.property(ascii, fc.string({ unit: "grapheme" }), (key, text) => {
      assert.equal(new Hmac(key).sign(text), createHmac("sha256", key).update(text).digest("base64url"));
    }),
  );
});
