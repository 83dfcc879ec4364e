// Which numbers may be told while transactions are under way.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Gaps } from "../../src/events/gaps.ts";

/** What is under way does not matter here. */
const busy = { oldest: 10, next: 20 };
const idle = { oldest: 20, next: 20 };

test("numbers without gaps are told at once, whatever is under way", () => {
  const gaps = new Gaps(5);
  assert.equal(gaps.settle([6, 7, 8], busy), 3);
  assert.equal(gaps.told, 8);
});

test("nothing behind a gap is told while a transaction could fill it", () => {
  const gaps = new Gaps(5);
  assert.equal(gaps.settle([6, 8], busy), 1);
  assert.equal(gaps.settle([8, 9], busy), 0);
  assert.equal(gaps.told, 6);
});

test("a gap that is filled late is told in its place", () => {
  const gaps = new Gaps(5);
  gaps.settle([7], busy);
  assert.equal(gaps.settle([6, 7], busy), 2);
});

test("a gap is passed once all that was under way has ended", () => {
  const gaps = new Gaps(5);
  gaps.settle([7], { oldest: 10, next: 20 });
  assert.equal(gaps.settle([7, 8], { oldest: 19, next: 30 }), 0);
  assert.equal(gaps.settle([7, 8], { oldest: 20, next: 30 }), 2);
});

test("a gap is passed at once where nothing is under way", () => {
  const gaps = new Gaps(5);
  assert.equal(gaps.settle([9], idle), 1);
  assert.equal(gaps.told, 9);
});

test("a gap that was seen later waits for what was under way then", () => {
  const gaps = new Gaps(5);
  gaps.settle([7], { oldest: 10, next: 20 });
  assert.equal(gaps.settle([7, 9], { oldest: 20, next: 30 }), 1);
  assert.equal(gaps.settle([9], { oldest: 29, next: 31 }), 0);
  assert.equal(gaps.settle([9], { oldest: 30, next: 31 }), 1);
});

test("no gap holds up others for ever", () => {
  let now = 0;
  const gaps = new Gaps(5, () => now);
  assert.equal(gaps.settle([7], busy), 0);
  now = 25_000;
  assert.equal(gaps.settle([7], busy), 1);
});
