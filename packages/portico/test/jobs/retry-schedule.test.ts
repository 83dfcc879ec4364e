// The delays between attempts.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deliveryRetries,
  endlessRetries,
  limitedRetries,
  RetrySchedule,
} from "../../src/jobs/retry-schedule.ts";

const second = 1_000;
const hour = 3_600 * second;

test("deliveries are retried after five seconds to a day, with 20 % jitter, and then given up", () => {
  const seconds = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400];
  seconds.forEach((wait, index) => {
    assert.equal(deliveryRetries.delayAfter(index + 1, 0.5), wait * 1000);
    assert.equal(deliveryRetries.delayAfter(index + 1, 0), wait * 800);
    assert.equal(deliveryRetries.delayAfter(index + 1, 1), wait * 1200);
  });
  assert.equal(deliveryRetries.delayAfter(seconds.length + 1), undefined);
});

test("retries of work that must not be lost end up hourly", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 1_000].map((attempts) => endlessRetries.delayAfter(attempts));
  const expected = [5, 20, 80, 320, 1_280].map((seconds) => seconds * second);
  assert.deepEqual(delays, [...expected, hour, hour, hour]);
});

test("work that can be lost is given up after six attempts", () => {
  assert.equal(limitedRetries.delayAfter(5), 1_280 * second);
  assert.equal(limitedRetries.delayAfter(6), undefined);
});

test("a schedule without delays gives up at once", () => {
  assert.equal(new RetrySchedule({ delaysMs: [], afterLast: "repeat" }).delayAfter(1), undefined);
});
