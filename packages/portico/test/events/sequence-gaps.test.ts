// Gaps in sequence numbers: which events can be delivered while transactions are open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SequenceGaps } from "../../src/events/sequence-gaps.ts";

test("numbers without gaps are delivered immediately", () => {
  const gaps = new SequenceGaps(5);
  assert.equal(gaps.advance([6, 7, 8]), 3);
  assert.equal(gaps.position, 8);
});

test("nothing after a gap is delivered while a transaction could fill it", () => {
  const gaps = new SequenceGaps(5);
  assert.equal(gaps.advance([6, 8]), 1);
  gaps.waitFor(8, ["a"]);
  gaps.update(["a"]);
  assert.equal(gaps.advance([8, 9]), 0);
  assert.equal(gaps.position, 6);
});

test("a number that fills a gap late is delivered in order", () => {
  const gaps = new SequenceGaps(5);
  gaps.advance([7]);
  gaps.waitFor(7, ["a"]);
  assert.equal(gaps.advance([6, 7]), 2);
  assert.equal(gaps.isWaiting, false);
});

test("a gap is skipped once all transactions that were open when it was seen have ended, despite newer ones", () => {
  const gaps = new SequenceGaps(5);
  gaps.advance([7]);
  gaps.waitFor(7, ["a", "b"]);
  assert.equal(gaps.update(["a", "b", "c"]), false);
  assert.equal(gaps.update(["b", "c"]), true);
  assert.equal(gaps.advance([7, 8]), 0);
  gaps.update(["c"]);
  assert.equal(gaps.advance([7, 8]), 2);
});

test("a gap is skipped immediately if no transaction is open", () => {
  const gaps = new SequenceGaps(5);
  assert.equal(gaps.advance([9]), 0);
  gaps.waitFor(9, []);
  assert.equal(gaps.isWaiting, false);
  assert.equal(gaps.advance([9]), 1);
});

test("a gap that was seen later waits for the transactions open at that time", () => {
  const gaps = new SequenceGaps(5);
  gaps.advance([7]);
  gaps.waitFor(7, ["a"]);
  gaps.update(["b"]);
  assert.equal(gaps.advance([7, 9]), 1);
  gaps.waitFor(9, ["b"]);
  assert.equal(gaps.advance([9]), 0);
  gaps.update([]);
  assert.equal(gaps.advance([9]), 1);
});

test("a gap is skipped after five minutes", () => {
  let now = 0;
  const gaps = new SequenceGaps(5, () => now);
  gaps.advance([7]);
  gaps.waitFor(7, ["a"]);
  now = 299_000;
  gaps.update(["a"]);
  assert.equal(gaps.advance([7]), 0);
  now = 301_000;
  gaps.update(["a"]);
  assert.equal(gaps.advance([7]), 1);
});
