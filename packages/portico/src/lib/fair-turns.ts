// A bound for work that takes memory, shared by tenants: they take turns, and none of them has all places at once.

interface Tenant {
  running: number;
  readonly waiting: (() => void)[];
}

export class FairTurns {
  readonly #atOnceOfTenant: number;
  #free: number;
  /** Those who have work, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant>();

  constructor(atOnce: number, atOnceOfTenant: number) {
    this.#free = atOnce;
    this.#atOnceOfTenant = atOnceOfTenant;
  }

  /** Does the work once fewer pieces are under way, of the tenant and of all. */
  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const tenant = this.#tenants.get(tenantId) ?? { running: 0, waiting: [] };
    if (this.#mayStart(tenant)) this.#take(tenantId, tenant);
    else {
      this.#tenants.set(tenantId, tenant);
      await new Promise<void>((resolve) => tenant.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      this.#end(tenantId, tenant);
    }
  }

  #mayStart({ running }: Tenant): boolean {
    return this.#free > 0 && running < this.#atOnceOfTenant;
  }

  /** The tenant's next turn is after all others. */
  #take(tenantId: string, tenant: Tenant): void {
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, tenant);
    tenant.running += 1;
    this.#free -= 1;
  }

  #end(tenantId: string, tenant: Tenant): void {
    tenant.running -= 1;
    this.#free += 1;
    if (tenant.running === 0 && tenant.waiting.length === 0) this.#tenants.delete(tenantId);
    this.#startNext();
  }

  #startNext(): void {
    for (const [tenantId, tenant] of this.#tenants) {
      if (tenant.waiting.length === 0 || !this.#mayStart(tenant)) continue;
      const start = tenant.waiting.shift()!;
      this.#take(tenantId, tenant);
      start();
      return;
    }
  }
}
