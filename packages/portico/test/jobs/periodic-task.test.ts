// Periodic tasks: when they run, failures, and stopping.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { PeriodicTask } from "../../src/jobs/periodic-task.ts";

async function reached(isReached: () => boolean): Promise<void> {
  for (const end = Date.now() + 5_000; !isReached(); await sleep(1))
    if (Date.now() > end) assert.fail("not reached within 5 seconds");
}

test("runs follow each other and never overlap", async () => {
  let count = 0;
  let running = 0;
  const run = async (): Promise<void> => {
    running += 1;
    assert.equal(running, 1);
    await sleep(5);
    count += 1;
    running -= 1;
  };
  const task = new PeriodicTask({ name: "counting", intervalMs: 1, run }, assert.fail);
  task.start();
  await reached(() => count >= 3);
  await task.stop();
  const before = count;
  await sleep(20);
  assert.equal(count, before);
});

test("the first of consecutive failures is reported, and the task continues", async () => {
  const reports: string[] = [];
  let count = 0;
  const run = async (): Promise<void> => {
    count += 1;
    if ([1, 2, 3, 5].includes(count)) throw new Error(`run ${count}`);
  };
  const report = (message: string, { err }: { readonly [name: string]: unknown }): void => {
    reports.push(`${message}: ${(err as Error).message}`);
  };
  const task = new PeriodicTask({ name: "counting", intervalMs: 1, run }, report);
  task.start();
  await reached(() => count >= 7);
  await task.stop();
  assert.deepEqual(reports, [
    "counting failed; it is tried again: run 1",
    "counting failed; it is tried again: run 5",
  ]);
});

test("stop aborts the signal of the current run and waits until it ends", async () => {
  let hasEnded = false;
  let isRunning = false;
  const run = async (signal: AbortSignal): Promise<void> => {
    isRunning = true;
    await sleep(60_000, undefined, { signal }).catch(() => {});
    await sleep(5);
    hasEnded = true;
  };
  const task = new PeriodicTask({ name: "waiting", intervalMs: 1, run }, assert.fail);
  task.start();
  await reached(() => isRunning);
  await task.stop();
  assert.equal(hasEnded, true);
});

test("a task that is stopped before its first run never runs", async () => {
  const run = async (): Promise<void> => assert.fail("it ran");
  const task = new PeriodicTask({ name: "never", delayMs: 5, intervalMs: 1, run }, assert.fail);
  task.start();
  await task.stop();
  await sleep(20);
});
