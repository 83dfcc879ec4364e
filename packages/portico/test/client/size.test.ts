// The client stays small, and imports nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { clientBundle } from "./client-bundle.ts";

test("the client is smaller than 6 kB when it is minified and compressed", () => {
  const code = clientBundle();
  assert.doesNotMatch(code, /\bimport\b\s*[{(*"']|\brequire\(/);
  const [gzip, brotli] = [gzipSync(code).length, brotliCompressSync(code).length];
  assert.ok(gzip < 6_000 && gzip > 1_000, `${gzip} bytes with gzip, ${brotli} with brotli`);
});
