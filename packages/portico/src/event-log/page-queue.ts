// Bounds how many pages of events are read at once. A page can have 15 MiB, and grows part by part, so that without a bound
// all pages of many requests would be in memory together.

import { Problem } from "../errors.ts";
import { FairQueue, type RefusalReason } from "../lib/fair-queue.ts";

const slots = 8;
const slotsPerTenant = 4;
/** Requests that wait. */
const maxWaiting = 1_000;
const maxWaitingOfTenant = 250;
const maxWaitMs = 10_000;

export class PageQueue {
  readonly #queue = new FairQueue({
    slots,
    slotsPerGroup: slotsPerTenant,
    maxWaiting: { count: maxWaiting, size: Number.POSITIVE_INFINITY },
    maxWaitingPerGroup: { count: maxWaitingOfTenant, size: Number.POSITIVE_INFINITY },
    maxWaitMs,
    refusal,
  });

  /**
   * Reads a page as soon as a slot is free.
   * @throws Problem `rate_limited` where too many requests of the tenant are waiting; `unavailable` where too many are
   *   waiting in total, or for too long
   */
  run<Page>(tenantId: string, read: () => Promise<Page>): Promise<Page> {
    return this.#queue.run(read, tenantId);
  }
}

function refusal(reason: RefusalReason): Problem {
  return reason === "groupFull"
    ? new Problem(
        "rate_limited",
        "Too many of your requests for events are waiting. Send fewer at once.",
        [],
        {
          "Retry-After": "1",
        },
      )
    : new Problem("unavailable", "Too many requests for events are waiting. Try again.");
}
