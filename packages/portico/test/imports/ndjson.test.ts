// A line of NDJSON may arrive in any number of parts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NdjsonParser } from "../../src/imports/ndjson.ts";

test("a line that arrives byte by byte takes about its size in memory", () => {
  const parser = new NdjsonParser();
  const value = "x".repeat(200_000);
  const before = process.memoryUsage().rss;
  for (const byte of Buffer.from(`"${value}`)) {
    const part = Buffer.allocUnsafeSlow(1);
    part[0] = byte;
    assert.deepEqual(parser.push(part), []);
  }
  assert.ok(process.memoryUsage().rss - before < 60_000_000);
  assert.equal(parser.push(Buffer.from('"\n'))[0]!.body(), value);
});
