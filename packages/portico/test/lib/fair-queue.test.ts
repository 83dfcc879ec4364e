// The fair queue bounds concurrent work: slots, turns, bounds on waiting work, timeouts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { FairQueue, type RefusalReason } from "../../src/lib/fair-queue.ts";

class Refused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason);
    this.reason = reason;
  }
}

const refusal = (reason: RefusalReason): Error => new Refused(reason);
const isRefused = (reason: RefusalReason) => (error: unknown) =>
  error instanceof Refused && error.reason === reason;

test("no more work runs concurrently than there are slots, and all of it runs", async () => {
  const options = fc.record({
    slots: fc.integer({ min: 1, max: 4 }),
    slotsPerGroup: fc.integer({ min: 1, max: 4 }),
  });
  const jobs = fc.array(
    fc.record({ group: fc.constantFrom("a", "b", "c"), turns: fc.nat(3), fails: fc.boolean() }),
    {
      maxLength: 30,
    },
  );
  await fc.assert(
    fc.asyncProperty(options, jobs, async ({ slots, slotsPerGroup }, list) => {
      const queue = new FairQueue({ slots, slotsPerGroup });
      const running = new Map<string, number>();
      let inTotal = 0;
      const outcomes = await Promise.allSettled(
        list.map(({ group, turns, fails }) =>
          queue.run(async () => {
            inTotal += 1;
            running.set(group, (running.get(group) ?? 0) + 1);
            assert.ok(inTotal <= slots && running.get(group)! <= slotsPerGroup);
            for (let count = 0; count < turns; count += 1) await setImmediate();
            inTotal -= 1;
            running.set(group, running.get(group)! - 1);
            if (fails) throw new Refused("full");
          }, group),
        ),
      );
      assert.deepEqual(
        outcomes.map(({ status }) => status === "rejected"),
        list.map(({ fails }) => fails),
      );
      assert.equal(queue.waiting, 0);
    }),
  );
});

test("groups take turns", async () => {
  const queue = new FairQueue({ slots: 1 });
  const order: string[] = [];
  const run = (group: string) =>
    queue.run(async () => {
      await setImmediate();
      order.push(group);
    }, group);
  await Promise.all(["a", "a", "a", "b", "b", "c"].map(run));
  assert.deepEqual(order, ["a", "a", "b", "c", "a", "b"]);
});

test("work that throws before it returns a promise frees its slot", async () => {
  const queue = new FairQueue({ slots: 1 });
  const fail = (): Promise<void> => {
    throw new Error("at once");
  };
  await assert.rejects(queue.run(fail), /at once/);
  assert.equal(await queue.run(async () => 1), 1);
});

test("waiting work is bounded by count and by size, for a group and in total", async () => {
  const bounds = { maxWaiting: { count: 3, size: 10 }, maxWaitingPerGroup: { count: 2, size: 6 } };
  const queue = new FairQueue({ slots: 1, ...bounds, refusal });
  const gate = Promise.withResolvers<void>();
  const add = (group: string, size: number): Promise<void> => queue.run(() => gate.promise, group, size);
  const all = [add("a", 100)];
  await assert.rejects(add("a", 7), isRefused("groupFull"));
  all.push(add("a", 6));
  await assert.rejects(add("a", 1), isRefused("groupFull"));
  all.push(add("a", 0));
  await assert.rejects(add("a", 0), isRefused("groupFull"));
  await assert.rejects(add("b", 5), isRefused("full"));
  all.push(add("b", 4));
  await assert.rejects(add("c", 0), isRefused("full"));
  gate.resolve();
  await Promise.all(all);
  await add("a", 100);
});

test("work that waits too long is refused, and makes room for other work", async () => {
  const queue = new FairQueue({ slots: 1, maxWaiting: { count: 1, size: 1 }, maxWaitMs: 20, refusal });
  const gate = Promise.withResolvers<void>();
  const running = queue.run(() => gate.promise);
  await assert.rejects(
    queue.run(async () => {}, "b", 1),
    isRefused("waitTimedOut"),
  );
  assert.equal(queue.waiting, 0);
  const next = queue.run(async () => 2, "b", 1);
  gate.resolve();
  await running;
  assert.equal(await next, 2);
});

test("work that runs too long rejects, and keeps its slot until it ends", async () => {
  const queue = new FairQueue({ slots: 1, timeoutMs: 20, refusal });
  const gate = Promise.withResolvers<void>();
  let hasStarted = false;
  await assert.rejects(
    queue.run(() => gate.promise),
    isRefused("timedOut"),
  );
  const next = queue.run(async () => {
    hasStarted = true;
  });
  await setImmediate();
  assert.equal(hasStarted, false);
  gate.resolve();
  await next;
  assert.equal(hasStarted, true);
});
