// How much long work may run at once, such as exports: of one tenant, so that it leaves slots to others, and of the process,
// because each takes a thread, a connection or memory.

import { Problem } from "../errors.ts";

export interface WorkSlotBounds {
  readonly perTenant: number;
  readonly perProcess: number;
}

/** Long work ends in minutes rather than seconds. */
const retryAfter = { "Retry-After": "30" };

export class WorkSlots {
  readonly #work: string;
  readonly #bounds: WorkSlotBounds;
  readonly #running = new Map<string, number>();
  #total = 0;

  /** @param work what runs, in the plural: `exports` */
  constructor(work: string, bounds: WorkSlotBounds) {
    this.#work = work;
    this.#bounds = bounds;
  }

  /**
   * Takes a slot.
   *
   * @returns a function that frees it
   * @throws Problem `rate_limited` if the tenant has no slot left, `unavailable` if the process has none
   */
  take(tenantId: string): () => void {
    const { perTenant, perProcess } = this.#bounds;
    const ofTenant = this.#running.get(tenantId) ?? 0;
    if (ofTenant >= perTenant) {
      const message = `${perTenant} of your ${this.#work} are running. Wait for one to end.`;
      throw new Problem("rate_limited", message, [], retryAfter);
    }
    if (this.#total >= perProcess)
      throw new Problem(
        "unavailable",
        `Too many ${this.#work} are running. Try again later.`,
        [],
        retryAfter,
      );
    this.#running.set(tenantId, ofTenant + 1);
    this.#total += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#free(tenantId);
    };
  }

  #free(tenantId: string): void {
    this.#total -= 1;
    const left = this.#running.get(tenantId)! - 1;
    if (left === 0) this.#running.delete(tenantId);
    else this.#running.set(tenantId, left);
  }
}
