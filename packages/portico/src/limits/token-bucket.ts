// Quotas in the memory of this process: a bucket of `limit` tokens for each key, which `windowSeconds` refill.
//
// Memory is bounded. A bucket that is full again is as good as none and is forgotten, so that about as many are kept
// as calls come while one token comes back: 6,000 where 30,000 addresses fail in a second and have 300 tokens in 60 s.
// `maxBuckets` takes windows that are long for their limit: with these it would be 500,000 calls a second. From there
// on each new key displaces a bucket, of the next sixteen the one that is full soonest. So many addresses that call
// once displace each other, and not one that has used up its tokens; that one is full before its time only where the
// fifteen beside it are as empty. Addresses displace no key's bucket: they are counted in a store of their own.

import type { Quota } from "../declare/caller.ts";
import type { QuotaState, Quotas } from "./quota.ts";

/** Of some 200 bytes each. */
const maxBuckets = 100_000;
/** Buckets looked at for each new one: more than one, so that the lap around all of them comes to its end. */
const evictionProbes = 2;
const evictionProbesWhenFull = 16;

/**
 * Whole numbers, so that no token is lost or won by rounding: time is in milliseconds, and a token is as many parts as
 * its window has milliseconds, of which `limit` come back in each.
 */
interface Bucket {
  /** Parts that were missing `at` a moment: more than the bucket holds while it is in debt. */
  missing: number;
  at: number;
  quota: Quota;
}

export class TokenBuckets implements Quotas {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;
  /** Goes round all buckets, a little with each new one. */
  #evictionCursor = this.#buckets.entries();

  /** @param now a clock in milliseconds that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many buckets are kept. */
  get size(): number {
    return this.#buckets.size;
  }

  take(key: string, quota: Quota, cost: number = 1): QuotaState {
    const bucket = this.#at(key, quota);
    const capacity = quota.limit * unitsPerToken(quota);
    // What is given back can be more than is missing by then.
    const requested = Math.max(0, bucket.missing + cost * unitsPerToken(quota));
    const isAllowed = requested <= capacity;
    if (isAllowed) bucket.missing = requested;
    return quotaState(bucket, isAllowed ? 0 : requested - capacity);
  }

  charge(key: string, quota: Quota, cost: number): QuotaState {
    const bucket = this.#at(key, quota);
    const token = unitsPerToken(quota);
    bucket.missing = Math.min(2 * quota.limit * token, bucket.missing + cost * token);
    return quotaState(bucket, 0);
  }

  /** The bucket as it is now. */
  #at(key: string, quota: Quota): Bucket {
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

/** @param missingUnits parts that were lacking for what was refused */
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

/** Of one token. */
function unitsPerToken({ windowSeconds }: Quota): number {
  return windowSeconds * 1000;
}

/** Parts that are missing now. */
function missingAt({ missing, at, quota }: Bucket, now: number): number {
  return Math.max(0, missing - (now - at) * quota.limit);
}

/** A bucket whose quota is another one now is as full, or as deep in debt, as it was, in proportion. */
function changeQuota(bucket: Bucket, quota: Quota, now: number): void {
  const before = bucket.quota.limit * unitsPerToken(bucket.quota);
  const after = quota.limit * unitsPerToken(quota);
  const missing = missingAt(bucket, now);
  // Rounded up, what is missing of an empty bucket must not become a debt.
  const maxMissing = missing > before ? 2 * after : after;
  bucket.missing = Math.min(maxMissing, Math.ceil(missing * (after / before)));
  bucket.at = now;
  bucket.quota = quota;
}
