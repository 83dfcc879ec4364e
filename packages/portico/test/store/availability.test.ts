// How soon the server notices that PostgreSQL is available again, if probes that began earlier never complete.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Availability } from "../../src/store/postgres/availability.ts";

const maxProbes = 5;

test("a hanging probe does not delay noticing that the server is available, and few probes run at once", async () => {
  let isAvailable = false;
  let count = 0;
  let running = 0;
  let maxRunning = 0;
  const availability = new Availability({
    probe: async (signal) => {
      count += 1;
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      try {
        if (!isAvailable) await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      } finally {
        running -= 1;
      }
    },
    connections: () => [],
    maxSilentMs: 10_000,
    disconnect: () => {},
    report: () => {},
  });
  const isUnavailable = (): boolean => {
    try {
      availability.require();
      return false;
    } catch {
      return true;
    }
  };
  try {
    availability.suspect(new Error("gone"));
    while (!isUnavailable()) await sleep(20);
    for (let seen = count; count === seen; ) await sleep(5);
    // A probe has just started and hangs.
    await sleep(2_000);
    for (let seen = count; count === seen; ) await sleep(5);
    isAvailable = true;
    while (isUnavailable()) await sleep(10);
    assert.ok(running > 0, "it is noticed while the probe still hangs");
    assert.ok(maxRunning <= maxProbes, `${maxRunning} probes at once`);
  } finally {
    availability.close();
  }
});
