// The queue of operations with several writes in one transaction, on a database that runs transactions concurrently.
// Operations of one tenant run one after another: they may write the same rows in different orders, and PostgreSQL needs
// a second to find each deadlock, while the others wait for it on connections that all tenants share. The callers of a
// tenant take turns, so that one with many operations does not keep the others from theirs.

import type { Caller } from "../declare/caller.ts";
import { LoggedProblem, Problem } from "../errors.ts";
import { FairQueue, type RefusalReason } from "../lib/fair-queue.ts";

/** Half of the connections for transactions, so that single writes are not held up by slow operations. */
const slots = 4;
const maxWaiting = { count: 1_000, size: Number.POSITIVE_INFINITY };
const maxWaitingPerTenant = { count: 250, size: Number.POSITIVE_INFINITY };
const maxWaitingPerCaller = { count: 100, size: Number.POSITIVE_INFINITY };
const maxWaitMs = 10_000;

export class JointWritesQueue {
  readonly #tenants = new FairQueue({
    ...{ slots, slotsPerGroup: 1, maxWaiting, maxWaitingPerGroup: maxWaitingPerTenant, maxWaitMs },
    refusal: problemOf,
  });
  /** Lets one operation of each caller into the queue of its tenant, where the oldest is next. */
  readonly #callers = new FairQueue({
    ...{ slots: Number.POSITIVE_INFINITY, slotsPerGroup: 1 },
    ...{ maxWaiting, maxWaitingPerGroup: maxWaitingPerCaller, maxWaitMs },
    refusal: problemOf,
  });

  /** Runs an operation in its turn. @throws Problem `rate_limited`, `unavailable` */
  run<T>({ tenantId, userId, credentialId }: Caller, operation: () => Promise<T>): Promise<T> {
    // The keys and applications of a user count as one caller.
    const caller = `${tenantId} ${userId ?? credentialId}`;
    return this.#callers.run(() => this.#tenants.run(operation, tenantId), caller);
  }
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
