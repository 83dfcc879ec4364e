// The times between attempts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitAfter } from "../../../src/events/mail/retries.ts";

const seconds = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400];

test("the wait grows from five seconds to a day, and then there is none", () => {
  seconds.forEach((wait, index) => {
    assert.equal(waitAfter(index + 1, 0.5), wait * 1000);
    assert.equal(waitAfter(index + 1, 0), wait * 800);
    assert.equal(waitAfter(index + 1, 1), wait * 1200);
  });
  assert.equal(waitAfter(seconds.length + 1), undefined);
});
