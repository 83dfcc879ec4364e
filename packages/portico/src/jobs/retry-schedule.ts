// When failed work is tried again.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface RetryScheduleOptions {
  /** Milliseconds to wait after the first failure, after the second one, and so on. */
  readonly delaysMs: readonly number[];
  /** After the last delay: `repeat` it for further failures, or give up. */
  readonly afterLast: "repeat" | "giveUp";
  /** How far a delay varies, as a fraction of it, so that work that failed together is not tried again together. */
  readonly jitter?: number;
}

/**
 * @example
 * const schedule = new RetrySchedule({ delaysMs: [1_000, 5_000], afterLast: "giveUp" });
 * schedule.delayAfter(2); // 5000
 * schedule.delayAfter(3); // undefined
 */
export class RetrySchedule {
  readonly #options: RetryScheduleOptions;

  constructor(options: RetryScheduleOptions) {
    this.#options = options;
  }

  /**
   * Milliseconds until the next attempt, or undefined to give up.
   *
   * @param attempts made so far, 1 or more
   * @param random from 0 to 1
   */
  delayAfter(attempts: number, random: number = Math.random()): number | undefined {
    const { delaysMs, afterLast, jitter = 0 } = this.#options;
    const delay = delaysMs[attempts - 1] ?? (afterLast === "repeat" ? delaysMs.at(-1) : undefined);
    return delay === undefined ? undefined : Math.round(delay * (1 - jitter + 2 * jitter * random));
  }
}

/** For deliveries to other servers, which can be down for a day: ten attempts in about two days. */
export const deliveryRetries = new RetrySchedule({
  delaysMs: [
    5 * second,
    30 * second,
    2 * minute,
    10 * minute,
    hour,
    3 * hour,
    6 * hour,
    12 * hour,
    24 * hour,
  ],
  afterLast: "giveUp",
  jitter: 0.2,
});

const localDelaysMs = [5, 20, 80, 320, 1_280].map((seconds) => seconds * second);

/** For work in the own database that must not be lost. */
export const endlessRetries = new RetrySchedule({ delaysMs: [...localDelaysMs, hour], afterLast: "repeat" });

/** For work in the own database that can be lost: six attempts in half an hour. */
export const limitedRetries = new RetrySchedule({ delaysMs: localDelaysMs, afterLast: "giveUp" });
