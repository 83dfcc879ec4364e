// The queue of operations with several writes in one transaction, on a database that runs transactions concurrently.
// Operations of one tenant run one after another: they may write the same rows in different orders, and PostgreSQL needs
// a second to find each deadlock, while the others wait for it on connections that all tenants share.

import { LoggedProblem, Problem } from "../errors.ts";
import { FairQueue, type RefusalReason } from "../lib/fair-queue.ts";

/** Half of the connections for transactions, so that single writes are not held up by slow operations. */
const slots = 4;
const maxWaiting = { count: 1_000, size: Number.POSITIVE_INFINITY };
const maxWaitingPerTenant = { count: 250, size: Number.POSITIVE_INFINITY };
const maxWaitMs = 10_000;

/** Its `run` takes the tenant's id as the name of the group. @throws Problem `rate_limited`, `unavailable` */
export function jointWritesQueue(): FairQueue {
  return new FairQueue({
    ...{ slots, slotsPerGroup: 1, maxWaiting, maxWaitingPerGroup: maxWaitingPerTenant, maxWaitMs },
    refusal: problemOf,
  });
}

function problemOf(reason: RefusalReason): Problem {
  if (reason === "groupFull") {
    const message = "Too many of your operations with several writes are waiting. Send fewer at once.";
    return new Problem("rate_limited", message, [], { "Retry-After": "1" });
  }
  return new LoggedProblem(
    "unavailable",
    "The operation waited too long for others with several writes. Try again.",
  );
}
