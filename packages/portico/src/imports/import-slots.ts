// How many imports run at once, and their end when the server is closed.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { WorkSlots } from "../limits/work-slots.ts";

const bounds = { perTenant: 2, perProcess: 8 };

type Interrupt = (problem: Problem) => void;

export class ImportSlots {
  readonly #slots = new WorkSlots("imports", bounds);
  readonly #interrupts = new Set<Interrupt>();
  #isStopping = false;

  /**
   * @param interrupt called when the server is closed
   * @returns ends the import
   * @throws Problem `rate_limited`, `unavailable`
   */
  take({ tenantId }: Caller, interrupt: Interrupt): () => void {
    this.requireRunning();
    const free = this.#slots.take(tenantId);
    this.#interrupts.add(interrupt);
    return () => {
      this.#interrupts.delete(interrupt);
      free();
    };
  }

  /** @throws Problem `unavailable` once the server is being closed */
  requireRunning(): void {
    if (this.#isStopping) throw stopping();
  }

  stop(): void {
    this.#isStopping = true;
    for (const interrupt of this.#interrupts) interrupt(stopping());
  }
}

function stopping(): Problem {
  return new Problem("unavailable", "The server is restarting.");
}
