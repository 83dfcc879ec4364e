// The interface of quota stores: the one in memory (token-bucket.ts), and one that several processes share.

import type { Quota } from "../declare/caller.ts";

export interface Quotas {
  /**
   * Takes `cost` tokens from the bucket of `key`, or none if fewer are left. A negative cost returns tokens. A store in
   * memory returns the result, a remote one a promise.
   *
   * @example
   * quotas.take("api_key_01k...", { limit: 1000, windowSeconds: 60 });
   * // { isAllowed: true, remaining: 999, secondsToFull: 1, secondsToNext: 0 }
   */
  take(key: string, quota: Quota, cost?: number): QuotaState | Promise<QuotaState>;

  /**
   * Takes tokens for work that is done already, even if fewer are left. Then nothing is allowed until the debt is
   * refilled. The debt is at most the capacity of the bucket.
   */
  charge(key: string, quota: Quota, cost: number): QuotaState | Promise<QuotaState>;
}

/** The state of a bucket after a request. Seconds are rounded up to whole ones. */
export interface QuotaState {
  readonly isAllowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Time until the bucket is full again, if no more tokens are taken. */
  readonly secondsToFull: number;
  /** Time until there are enough tokens for the refused request; 0 if it was allowed. */
  readonly secondsToNext: number;
}
