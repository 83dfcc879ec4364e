// How many imports run at once, and their end when the server is closed.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";

export const maxImports = 8;
export const maxImportsPerTenant = 2;

type Interrupt = (problem: Problem) => void;

export class ImportSlots {
  readonly #running = new Map<Interrupt, string>();
  #isStopping = false;

  /**
   * @param interrupt called when the server is closed
   * @returns ends the import
   * @throws Problem `rate_limited`
   */
  take({ tenantId }: Caller, interrupt: Interrupt): () => void {
    this.requireRunning();
    const ofTenant = [...this.#running.values()].filter((each) => each === tenantId).length;
    if (ofTenant >= maxImportsPerTenant || this.#running.size >= maxImports)
      throw new Problem(
        "rate_limited",
        "Too many imports are running. Start this one when another has ended.",
      );
    this.#running.set(interrupt, tenantId);
    return () => void this.#running.delete(interrupt);
  }

  /** @throws Problem `unavailable` once the server is being closed */
  requireRunning(): void {
    if (this.#isStopping) throw stopping();
  }

  stop(): void {
    this.#isStopping = true;
    for (const interrupt of this.#running.keys()) interrupt(stopping());
  }
}

function stopping(): Problem {
  return new Problem("unavailable", "The server is restarting.");
}
