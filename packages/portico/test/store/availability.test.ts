// How soon it is noticed that PostgreSQL is back, where what was asked before its return is never answered.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Availability } from "../../src/store/postgres/availability.ts";

/** A second is allowed, and a probe that hangs takes longer than that. */
const longestReturnMs = 1_000;
const mostProbes = 5;

test("a probe that hangs does not keep the return of the server from being noticed, and few are under way", async () => {
  let isBack = false;
  let count = 0;
  let underWay = 0;
  let most = 0;
  const availability = new Availability({
    probe: async (signal) => {
      count += 1;
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        if (!isBack) await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      } finally {
        underWay -= 1;
      }
    },
    connections: () => [],
    maxSilentMs: 10_000,
    disconnect: () => {},
    report: () => {},
  });
  const isOut = (): boolean => {
    try {
      availability.require();
      return false;
    } catch {
      return true;
    }
  };
  try {
    availability.suspect(new Error("gone"));
    while (!isOut()) await sleep(20);
    for (let seen = count; count === seen; ) await sleep(5);
    // A probe has just begun, and hangs.
    await sleep(2_000);
    for (let seen = count; count === seen; ) await sleep(5);
    isBack = true;
    const backAt = performance.now();
    while (isOut()) await sleep(10);
    const tookMs = Math.round(performance.now() - backAt);
    assert.ok(tookMs < longestReturnMs, `${tookMs} ms`);
    assert.ok(most <= mostProbes, `${most} probes at once`);
  } finally {
    availability.close();
  }
});
