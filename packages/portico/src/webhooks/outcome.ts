// What becomes of a delivery: of an attempt, or because nothing is sent.

import type { Attempt } from "./attempt.ts";
import type { DueDelivery } from "./delivery-queries.ts";
import type { Finished } from "./queue-record.ts";
import type { DeliverySchedule } from "./schedule.ts";

export function outcomeOf(schedule: DeliverySchedule, delivery: DueDelivery, attempt: Attempt): Finished {
  const { status, delayMs } = schedule.verdict(delivery.attempts + 1, attempt);
  const nextAttemptAt = delayMs === undefined ? null : new Date(Date.now() + delayMs).toISOString();
  return { delivery, at: new Date().toISOString(), status, nextAttemptAt, error: attempt.error, attempt };
}

/** Nothing is sent, now or later. */
export function failed(delivery: DueDelivery, error: string): Finished {
  const at = new Date().toISOString();
  return { delivery, at, status: "failed", nextAttemptAt: null, error, attempt: undefined };
}

/** Nothing is sent now. It counts as an attempt that has failed. */
export function postponed(schedule: DeliverySchedule, delivery: DueDelivery, error: string): Finished {
  const at = new Date().toISOString();
  const attempt = { at, status: null, durationMs: 0, error, response: null, retryAfterMs: undefined };
  return outcomeOf(schedule, delivery, attempt);
}
