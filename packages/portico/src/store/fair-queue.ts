// Work that may take long shares a few slots. Tenants take turns, and none of them has all slots at once, so that
// one who keeps its slots busy holds up its own work only.

import { LoggedProblem, Problem } from "../errors.ts";

export interface QueueBounds {
  /** Pieces of work that are under way at once, of all tenants and of one. */
  readonly slots: number;
  readonly tenantSlots: number;
  /** How long one may take; its caller is answered then, its slot is free once it has really ended. */
  readonly timeoutMs: number;
  /** Counts what is refused with `unavailable`, which callers cause and which is not logged one by one. */
  readonly countRefused: CountRefused;
}

export type CountRefused = (what: "slowReadsRefused" | "slowReadsTimedOut") => void;

/** Pieces of work that wait for a slot, and for how long. */
const maxWaiting = 1_000;
const maxWaitingOfTenant = 250;
/** Bytes that these hold: the values of statements. */
const maxWaitingBytes = 64 * 1024 * 1024;
const maxWaitingBytesOfTenant = 16 * 1024 * 1024;
const maxWaitMs = 10_000;

interface Job {
  readonly start: () => void;
}

interface Tenant {
  running: number;
  readonly waiting: Set<Job>;
  waitingBytes: number;
}

export class FairQueue {
  readonly #bounds: QueueBounds;
  /** Those who have work, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant>();
  #running = 0;
  #waiting = 0;
  #waitingBytes = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work once a slot is free.
   *
   * @throws Problem `rate_limited` where too much of the tenant's waits, `unavailable` where too much waits in all or
   * a time-out is over
   * @example
   * await queue.run("tenant_01k...", bytesOf(values), () => thread.query(sql, values));
   */
  async run<T>(tenantId: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const tenant = this.#tenants.get(tenantId) ?? { running: 0, waiting: new Set(), waitingBytes: 0 };
    if (this.#mayStart(tenant)) this.#take(tenantId, tenant);
    else await this.#wait(tenantId, tenant, bytes);
    const running = work().finally(() => this.#release(tenantId, tenant));
    return this.#within(this.#bounds.timeoutMs, running);
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
  #wait(tenantId: string, tenant: Tenant, bytes: number): Promise<void> {
    if (tenant.waiting.size >= maxWaitingOfTenant || tenant.waitingBytes + bytes > maxWaitingBytesOfTenant)
      throw tooManyOfTenant();
    if (this.#waiting >= maxWaiting || this.#waitingBytes + bytes > maxWaitingBytes)
      throw this.#refusal("slowReadsRefused", "Too many slow requests are waiting. Try again.");
    this.#tenants.set(tenantId, tenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        tenant.waiting.delete(job);
        tenant.waitingBytes -= bytes;
        this.#waiting -= 1;
        this.#waitingBytes -= bytes;
        this.#forgetIdle(tenantId, tenant);
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.#refusal("slowReadsRefused", "The request waited too long for others. Try again."));
      }, maxWaitMs);
      const job: Job = {
        start: () => {
          leave();
          this.#take(tenantId, tenant);
          resolve();
        },
      };
      tenant.waiting.add(job);
      tenant.waitingBytes += bytes;
      this.#waiting += 1;
      this.#waitingBytes += bytes;
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

  async #within<T>(timeoutMs: number, running: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.timedOut()), timeoutMs);
    });
    try {
      return await Promise.race([running, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The refusal of work that took too long, which is counted by this. */
  timedOut(): Problem {
    const message = "The request took too long. Ask for less, or with fewer conditions.";
    return this.#refusal("slowReadsTimedOut", message);
  }

  #refusal(what: Parameters<CountRefused>[0], message: string): Problem {
    this.#bounds.countRefused(what);
    return new LoggedProblem("unavailable", message);
  }
}

function tooManyOfTenant(): Problem {
  const message = "Too many of your slow requests are waiting. Send fewer at once.";
  return new Problem("rate_limited", message, [], { "Retry-After": "1" });
}

/** About how many bytes the values of a statement hold. */
export function bytesOf(values: readonly unknown[]): number {
  let bytes = 0;
  for (const value of values)
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
  return bytes;
}
