// The pace of background work, with a thread whose use the test sets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace, type ThreadUse } from "../../src/jobs/pace.ts";

class Thread {
  #use: ThreadUse = { now: 0, activeMs: 0, processorMs: 0 };
  readonly pace = new Pace({ minRate: 600, maxRate: 20_000, measure: () => this.#use });

  /** Ten seconds with a utilization of the event loop, and a share of a processor. */
  async run(utilization: number, share = utilization): Promise<number> {
    for (let window = 0; window < 100; window += 1) {
      const { now, activeMs, processorMs } = this.#use;
      this.#use = {
        now: now + 100,
        activeMs: activeMs + 100 * utilization,
        processorMs: processorMs + 100 * share,
      };
      await this.pace.take(0);
    }
    return this.pace.burst;
  }
}

test("work yields to a busy thread, goes on at a low rate, and recovers", async () => {
  const thread = new Thread();
  assert.equal(thread.pace.burst, 1_000);
  assert.equal(await thread.run(1), 30);
  assert.equal(await thread.run(0.7), 30);
  assert.equal(await thread.run(0.3), 1_000);
});

test("on a machine that is busy with other processes it yields more, but never stops", async () => {
  const thread = new Thread();
  assert.equal(await thread.run(1, 0.5), 15);
  assert.equal(await thread.run(1, 0), 3);
});

test("what is taken beyond the rate is waited for in order, until the end", async () => {
  const thread = new Thread();
  await thread.run(1);
  await thread.pace.take(1_000);
  const order: number[] = [];
  const takes = [1, 2, 3].map((each) => thread.pace.take(1_000).then(() => order.push(each)));
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  thread.pace.end();
  await Promise.all(takes);
  assert.deepEqual(order, [1, 2, 3]);
});
