// Work that may take long shares a few slots. Tenants take turns, and none of them has all slots at once, so that
// one who keeps its slots busy holds up its own work only.

import { Problem } from "../errors.ts";

export interface QueueBounds {
  /** Pieces of work that are under way at once, of all tenants and of one. */
  readonly slots: number;
  readonly tenantSlots: number;
  /** How long one may take; its caller is answered then, its slot is free once it has really ended. */
  readonly timeoutMs: number;
}

/** Pieces of work that wait for a slot, and for how long. */
const maxWaiting = 1_000;
const maxWaitingOfTenant = 250;
const maxWaitMs = 10_000;

interface Job {
  readonly start: () => void;
}

interface Tenant {
  running: number;
  readonly waiting: Set<Job>;
}

export class FairQueue {
  readonly #bounds: QueueBounds;
  /** Those who have work, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant>();
  #running = 0;
  #waiting = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work once a slot is free.
   *
   * @throws Problem `rate_limited` where too much of the tenant's waits, `unavailable` where too much waits in all or
   * a time-out is over
   * @example
   * await queue.run("tenant_01k...", () => thread.query(sql, values));
   */
  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const tenant = this.#tenants.get(tenantId) ?? { running: 0, waiting: new Set() };
    if (this.#mayStart(tenant)) this.#take(tenantId, tenant);
    else await this.#wait(tenantId, tenant);
    const running = work().finally(() => this.#release(tenantId, tenant));
    return within(this.#bounds.timeoutMs, running);
  }

  #mayStart({ running }: Tenant): boolean {
    return this.#running < this.#bounds.slots && running < this.#bounds.tenantSlots;
  }

  /** The tenant's next turn is after all others. */
  #take(tenantId: string, tenant: Tenant): void {
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, tenant);
    tenant.running += 1;
    this.#running += 1;
  }

  /** Comes back with a slot. */
  #wait(tenantId: string, tenant: Tenant): Promise<void> {
    if (tenant.waiting.size >= maxWaitingOfTenant) throw tooManyOfTenant();
    if (this.#waiting >= maxWaiting)
      throw new Problem("unavailable", "Too many slow requests are waiting. Try again.");
    this.#tenants.set(tenantId, tenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        tenant.waiting.delete(job);
        this.#waiting -= 1;
        this.#forgetIdle(tenantId, tenant);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new Problem("unavailable", "The request waited too long for others. Try again."));
      }, maxWaitMs);
      const job: Job = {
        start: () => {
          leave();
          this.#take(tenantId, tenant);
          resolve();
        },
      };
      tenant.waiting.add(job);
      this.#waiting += 1;
    });
  }

  #release(tenantId: string, tenant: Tenant): void {
    tenant.running -= 1;
    this.#running -= 1;
    this.#forgetIdle(tenantId, tenant);
    this.#startNext();
  }

  #forgetIdle(tenantId: string, { running, waiting }: Tenant): void {
    if (running === 0 && waiting.size === 0) this.#tenants.delete(tenantId);
  }

  #startNext(): void {
    for (const tenant of this.#tenants.values()) {
      const [job] = tenant.waiting;
      if (!job || !this.#mayStart(tenant)) continue;
      job.start();
      return;
    }
  }
}

function tooManyOfTenant(): Problem {
  const message = "Too many of your slow requests are waiting. Send fewer at once.";
  return new Problem("rate_limited", message, [], { "Retry-After": "1" });
}

async function within<T>(timeoutMs: number, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timedOut()), timeoutMs);
  });
  try {
    return await Promise.race([running, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(): Problem {
  return new Problem("unavailable", "The request took too long. Ask for less, or with fewer conditions.");
}
