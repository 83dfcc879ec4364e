// Quotas in the memory of this process: a bucket of `limit` tokens for each key, which `windowSeconds` refill.
//
// Memory is bounded. A full bucket is equivalent to none and is deleted, so there are about as many buckets as requests
// arrive while one token is refilled: 6,000 if 30,000 addresses a second fail and each has 300 tokens in 60 s. Quotas
// with a long window for their limit can reach `maxBuckets`. From then on each new key displaces a bucket: of the next
// sixteen, the one that will be full soonest. So addresses that send one request displace each other, and not one that
// has used up its tokens, unless the fifteen others are as empty. Addresses are counted in a store of their own, so they
// displace no bucket of a key.

import type { Quota } from "../declare/caller.ts";
import type { QuotaState, Quotas } from "./quota.ts";

/** About 200 bytes each. */
const maxBuckets = 100_000;
/** Buckets inspected for each new one. With one, the cursor would never reach the end of a growing map. */
const evictionProbes = 2;
const evictionProbesWhenFull = 16;

/**
 * Amounts are in units of which a token has as many as its window has milliseconds, so that exactly `limit` units are
 * refilled each millisecond. All numbers are whole, and rounding neither loses nor creates tokens.
 */
interface Bucket {
  /** Units missing at the time `at`: more than the capacity while the bucket is in debt. */
  missing: number;
  /** Milliseconds. */
  at: number;
  quota: Quota;
}

export class TokenBuckets implements Quotas {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;
  /** Cycles through all buckets, a few for each new one. */
  #evictionCursor = this.#buckets.entries();

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The number of buckets in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  take(key: string, quota: Quota, cost: number = 1): QuotaState {
    const bucket = this.#current(key, quota);
    const capacity = quota.limit * unitsPerToken(quota);
    // Returned tokens can exceed what is still missing.
    const requested = Math.max(0, bucket.missing + cost * unitsPerToken(quota));
    const isAllowed = requested <= capacity;
    if (isAllowed) bucket.missing = requested;
    return quotaState(bucket, isAllowed ? 0 : requested - capacity);
  }

  charge(key: string, quota: Quota, cost: number): QuotaState {
    const bucket = this.#current(key, quota);
    const token = unitsPerToken(quota);
    bucket.missing = Math.min(2 * quota.limit * token, bucket.missing + cost * token);
    return quotaState(bucket, 0);
  }

  /** The bucket of a key, updated to the current time. */
  #current(key: string, quota: Quota): Bucket {
    const now = Math.floor(this.#now());
    const bucket = this.#buckets.get(key) ?? this.#add(key, quota, now);
    if (bucket.quota !== quota) changeQuota(bucket, quota, now);
    bucket.missing = missingAt(bucket, now);
    bucket.at = now;
    return bucket;
  }

  #add(key: string, quota: Quota, now: number): Bucket {
    this.#evict(now);
    const bucket = { missing: 0, at: now, quota };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #evict(now: number): void {
    let soonest: string | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (
      let left = this.#buckets.size < maxBuckets ? evictionProbes : evictionProbesWhenFull;
      left > 0;
      left -= 1
    ) {
      const { value: entry } = this.#evictionCursor.next();
      if (!entry) {
        this.#evictionCursor = this.#buckets.entries();
        continue;
      }
      const [key, bucket] = entry;
      const ms = missingAt(bucket, now) / bucket.quota.limit;
      if (ms === 0) this.#buckets.delete(key);
      if (ms < soonestMs) [soonest, soonestMs] = [key, ms];
    }
    if (soonest !== undefined && this.#buckets.size >= maxBuckets) this.#buckets.delete(soonest);
  }
}

/** @param missingUnits units that the refused request was short of; 0 if it was allowed */
function quotaState({ missing, quota }: Bucket, missingUnits: number): QuotaState {
  const { limit } = quota;
  const token = unitsPerToken(quota);
  return {
    isAllowed: missingUnits === 0,
    remaining: Math.max(0, Math.floor((limit * token - missing) / token)),
    secondsToFull: Math.ceil(missing / limit / 1000),
    secondsToNext: Math.ceil(missingUnits / limit / 1000),
  };
}

function unitsPerToken({ windowSeconds }: Quota): number {
  return windowSeconds * 1000;
}

/** Units missing at the time `now`. */
function missingAt({ missing, at, quota }: Bucket, now: number): number {
  return Math.max(0, missing - (now - at) * quota.limit);
}

/** Changes the quota of a bucket, and keeps its fill level, or debt, in proportion. */
function changeQuota(bucket: Bucket, quota: Quota, now: number): void {
  const before = bucket.quota.limit * unitsPerToken(bucket.quota);
  const after = quota.limit * unitsPerToken(quota);
  const missing = missingAt(bucket, now);
  // An empty bucket must not get into debt by rounding up.
  const maxMissing = missing > before ? 2 * after : after;
  bucket.missing = Math.min(maxMissing, Math.ceil(missing * (after / before)));
  bucket.at = now;
  bucket.quota = quota;
}
