// The token bucket in memory, with a clock that the tests advance.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Quota } from "../../src/declare/caller.ts";
import { TokenBuckets } from "../../src/limits/token-bucket.ts";

class Clock {
  ms = 0;
  readonly now = (): number => this.ms;
}

const minute: Quota = { limit: 300, windowSeconds: 60 };

describe("a bucket", () => {
  const quota = fc.record({
    limit: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000_000 })),
    windowSeconds: fc.integer({ min: 1, max: 100 }),
  });
  const calls = fc.array(
    fc.record({
      afterMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 200_000 }),
      ),
      cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300 })),
      who: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 200, size: "max" },
  );

  /** The tokens of one bucket as a fraction: `parts` are one token. It never rounds and never forgets a bucket. */
  class Model {
    readonly #quota: Quota;
    readonly #parts: bigint;
    #left: bigint;
    #at = 0;

    constructor(quota: Quota) {
      this.#quota = quota;
      this.#parts = BigInt(quota.windowSeconds) * 1000n;
      this.#left = BigInt(quota.limit) * this.#parts;
    }

    take(ms: number, cost: number): { isAllowed: boolean; remaining: number } {
      const full = BigInt(this.#quota.limit) * this.#parts;
      this.#left += BigInt(ms - this.#at) * BigInt(this.#quota.limit);
      if (this.#left > full) this.#left = full;
      this.#at = ms;
      const wanted = BigInt(cost) * this.#parts;
      const isAllowed = this.#left >= wanted;
      if (isAllowed) this.#left -= wanted;
      return { isAllowed, remaining: Number(this.#left / this.#parts) };
    }
  }

  test("is in debt if it is charged more than is left, by its capacity at most", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    const quota = { limit: 60, windowSeconds: 60 };
    assert.equal(buckets.charge("one", quota, 50).remaining, 10);
    assert.deepEqual(buckets.charge("one", quota, 20), {
      ...{ isAllowed: true, remaining: 0, secondsToFull: 70, secondsToNext: 0 },
    });
    assert.deepEqual(buckets.take("one", quota), {
      ...{ isAllowed: false, remaining: 0, secondsToFull: 70, secondsToNext: 11 },
    });
    clock.ms = 11_000;
    assert.equal(buckets.take("one", quota).isAllowed, true);
    assert.equal(buckets.charge("one", quota, 1_000).secondsToFull, 120);
  });

  test("allows what an exact model allows", () => {
    fc.assert(
      fc.property(quota, calls, (quota, calls) => {
        const clock = new Clock();
        const buckets = new TokenBuckets(clock.now);
        const models = Array.from({ length: 10 }, () => new Model(quota));
        for (const { afterMs, cost, who } of calls) {
          clock.ms += afterMs;
          const { isAllowed, remaining } = buckets.take(String(who), quota, cost);
          assert.deepEqual({ isAllowed, remaining }, models[who]!.take(clock.ms, cost));
        }
      }),
    );
  });

  test("allows no more in any period than its limit and the tokens refilled meanwhile", () => {
    fc.assert(
      fc.property(quota, calls, (quota, calls) => {
        const clock = new Clock();
        const buckets = new TokenBuckets(clock.now);
        const allowed: { ms: number; cost: number }[] = [];
        for (const { afterMs, cost } of calls) {
          clock.ms += afterMs;
          if (buckets.take("one", quota, cost).isAllowed) allowed.push({ ms: clock.ms, cost });
        }
        for (const [index, first] of allowed.entries()) {
          let sum = 0;
          for (const { ms, cost } of allowed.slice(index)) {
            sum += cost;
            const most = quota.limit * (1 + (ms - first.ms) / (quota.windowSeconds * 1000));
            assert.ok(sum <= most + 1e-6, `${sum} in ${ms - first.ms} ms`);
          }
        }
      }),
    );
  });

  test("refuses until secondsToNext have passed, and is full after secondsToFull", () => {
    fc.assert(
      fc.property(quota, calls, (quota, calls) => {
        const clock = new Clock();
        const buckets = new TokenBuckets(clock.now);
        for (const { afterMs, cost } of calls) {
          clock.ms += afterMs;
          const state = buckets.take("one", quota, cost);
          assert.equal(state.secondsToNext > 0, !state.isAllowed);
          assert.ok(state.secondsToFull <= quota.windowSeconds);
          if (cost > quota.limit) continue;
          clock.ms += state.secondsToNext * 1000;
          const { isAllowed, secondsToFull } = buckets.take("one", quota, cost);
          if (!state.isAllowed) assert.ok(isAllowed, `after ${state.secondsToNext} s`);
          clock.ms += secondsToFull * 1000;
          assert.equal(buckets.take("one", quota, 1).remaining, quota.limit - 1);
        }
      }),
    );
  });

  test("reports what is left, when it is full and when the next token is available", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    const quota = { limit: 3, windowSeconds: 60 };
    const take = (): readonly unknown[] => Object.values(buckets.take("one", quota));
    assert.deepEqual(take(), [true, 2, 20, 0]);
    assert.deepEqual(take(), [true, 1, 40, 0]);
    assert.deepEqual(take(), [true, 0, 60, 0]);
    assert.deepEqual(take(), [false, 0, 60, 20]);
    clock.ms = 19_999;
    assert.deepEqual(take(), [false, 0, 41, 1]);
    clock.ms = 20_000;
    assert.deepEqual(take(), [true, 0, 60, 0]);
  });

  test("does not charge refused calls, however often they are repeated", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    buckets.take("one", minute, 299);
    for (let times = 0; times < 1_000; times += 1) assert.ok(!buckets.take("one", minute, 2).isAllowed);
    assert.ok(buckets.take("one", minute).isAllowed);
  });

  test("keeps its proportion when its quota changes", () => {
    const buckets = new TokenBuckets(new Clock().now);
    buckets.take("one", { limit: 100, windowSeconds: 60 }, 50);
    assert.equal(buckets.take("one", { limit: 10, windowSeconds: 3600 }).remaining, 4);
    assert.equal(buckets.take("one", { limit: 1_000, windowSeconds: 1 }).remaining, 399);
    assert.equal(buckets.take("one", { limit: 1_000, windowSeconds: 1 }).remaining, 398);
  });

  test("never becomes negative when its quota changes", () => {
    fc.assert(
      fc.property(quota, fc.array(quota, { minLength: 1 }), (first, others) => {
        const buckets = new TokenBuckets(new Clock().now);
        buckets.take("one", first, first.limit);
        for (const other of others) {
          const { isAllowed, remaining, secondsToFull } = buckets.take("one", other);
          assert.deepEqual([isAllowed, remaining, secondsToFull], [false, 0, other.windowSeconds]);
        }
      }),
    );
  });

  test("supports the largest quotas that can be set", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    const largest = { limit: 999_999_999, windowSeconds: 999_999 };
    for (let times = 1; times <= 1_000; times += 1)
      assert.equal(buckets.take("one", largest).remaining, largest.limit - times);
    clock.ms += 10_000;
    assert.equal(buckets.take("one", largest).remaining, largest.limit - 1);
  });
});

describe("memory", () => {
  const million = 1_000_000;

  test("for a million keys, as many buckets are stored as calls arrive while a token is refilled", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    let most = 0;
    for (let each = 0; each < million; each += 1) {
      // 30,000 calls a second; a token is refilled in 200 ms.
      clock.ms = each / 30;
      buckets.take(`key ${each}`, minute);
      most = Math.max(most, buckets.size);
    }
    assert.ok(most >= 6_000 && most < 15_000, `${most} buckets`);
  });

  test("is bounded if no token is refilled", () => {
    const buckets = new TokenBuckets(new Clock().now);
    let most = 0;
    for (let each = 0; each < million; each += 1) {
      buckets.take(`key ${each}`, minute);
      most = Math.max(most, buckets.size);
    }
    assert.equal(most, 100_000);
  });

  test("buckets that are full again are removed when others are added", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    for (let each = 0; each < 50_000; each += 1) buckets.take(`early ${each}`, minute);
    clock.ms = 60_000;
    for (let each = 0; each < 50_000; each += 1) {
      clock.ms += 1;
      buckets.take(`late ${each}`, minute);
    }
    assert.ok(buckets.size < 1_000, `${buckets.size} buckets`);
  });

  test("an empty bucket is kept longer than a million fuller ones", () => {
    const clock = new Clock();
    const buckets = new TokenBuckets(clock.now);
    for (const each of ["one", "two", "three"]) assert.ok(buckets.take(each, minute, 300).isAllowed);
    for (let each = 0; each < million; each += 1) buckets.take(`key ${each}`, minute);
    for (const each of ["one", "two", "three"]) assert.ok(!buckets.take(each, minute).isAllowed);
  });
});
