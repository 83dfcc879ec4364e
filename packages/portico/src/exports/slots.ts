// Bounds how many exports run at once: each has a thread or a connection of its own.

import { Problem } from "../errors.ts";

export const maxPerTenant = 2;
export const maxPerProcess = 4;

const retryAfter = { "Retry-After": "30" };

export class ExportSlots {
  readonly #running = new Map<string, number>();
  #total = 0;

  /** @returns a function that frees the slot @throws Problem `rate_limited`, `unavailable` if none is free */
  take(tenantId: string): () => void {
    const ofTenant = this.#running.get(tenantId) ?? 0;
    if (ofTenant >= maxPerTenant) {
      const message = `${maxPerTenant} of your exports are running. Wait for one to end.`;
      throw new Problem("rate_limited", message, [], retryAfter);
    }
    if (this.#total >= maxPerProcess)
      throw new Problem("unavailable", "Too many exports are running. Try again later.", [], retryAfter);
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
