// What every store of quotas can do: the one in memory (token-bucket.ts), and one that several processes share.

import type { Quota } from "../declare/caller.ts";

export interface Quotas {
  /**
   * Takes tokens from the bucket of `key`: all of `cost`, or none where fewer are left.
   * A cost below zero gives back.
   * A store in memory answers at once; one across a network with a promise.
   *
   * @example
   * quotas.take("api_key_01k...", { limit: 1000, windowSeconds: 60 });
   * // { isAllowed: true, remaining: 999, secondsToFull: 1, secondsToNext: 0 }
   */
  take(key: string, quota: Quota, cost?: number): QuotaState | Promise<QuotaState>;

  /**
   * Takes tokens for what was done already, though fewer may be left: nothing is allowed then until the debt has been
   * refilled. The debt is at most what the bucket holds.
   */
  charge(key: string, quota: Quota, cost: number): QuotaState | Promise<QuotaState>;
}

/** Seconds are whole, rounded up. */
export interface QuotaState {
  readonly isAllowed: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Until the bucket is full again, if nothing more is taken. */
  readonly secondsToFull: number;
  /** Until there is enough for what was refused; 0 where it was allowed. */
  readonly secondsToNext: number;
}
