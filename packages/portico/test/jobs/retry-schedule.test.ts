// The times between attempts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelayAfter } from "../../src/jobs/retry-schedule.ts";

const seconds = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400];

test("the wait grows from five seconds to a day, and then there is none", () => {
  seconds.forEach((wait, index) => {
    assert.equal(retryDelayAfter(index + 1, 0.5), wait * 1000);
    assert.equal(retryDelayAfter(index + 1, 0), wait * 800);
    assert.equal(retryDelayAfter(index + 1, 1), wait * 1200);
  });
  assert.equal(retryDelayAfter(seconds.length + 1), undefined);
});
