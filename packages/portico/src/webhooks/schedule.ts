// What follows from an attempt: the delivery is done, or attempted again later.

import { RetrySchedule } from "../jobs/retry-schedule.ts";
import { type Attempt, goneStatus } from "./attempt.ts";

const jitter = 0.1;

export interface Verdict {
  readonly status: "pending" | "succeeded" | "failed";
  /** Undefined unless it stays pending. */
  readonly delayMs: number | undefined;
}

export class DeliverySchedule {
  /** Before the first attempt. */
  readonly firstDelayMs: number;
  readonly #retries: RetrySchedule;

  /** @param seconds before each attempt */
  constructor(seconds: readonly number[]) {
    const [first = 0, ...delays] = seconds.map((each) => each * 1000);
    this.firstDelayMs = first;
    this.#retries = new RetrySchedule({ delaysMs: delays, afterLast: "giveUp", jitter });
  }

  /**
   * @param attempts made so far, with this one
   * @param attempt undefined if it failed before anything was sent
   */
  verdict(
    attempts: number,
    attempt: Pick<Attempt, "status" | "error" | "retryAfterMs"> | undefined,
  ): Verdict {
    if (attempt && attempt.error === null) return { status: "succeeded", delayMs: undefined };
    const delayMs = attempt?.status === goneStatus ? undefined : this.#retries.delayAfter(attempts);
    if (delayMs === undefined) return { status: "failed", delayMs };
    return { status: "pending", delayMs: Math.max(delayMs, attempt?.retryAfterMs ?? 0) };
  }
}
