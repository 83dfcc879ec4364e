// Transactions of a tenant that have conflicted with others run again one after another, and new ones wait meanwhile. If
// they all ran again at once, most would conflict again, and each deadlock holds them up for a second.

export class RetryTurns {
  /** Of each tenant, the end of the last transaction that waits for its turn. */
  readonly #ends = new Map<string, Promise<void>>();

  /** Waits until no transaction of the tenant is run again. */
  async wait(tenantId: string): Promise<void> {
    for (let end = this.#ends.get(tenantId); end; end = this.#ends.get(tenantId)) await end;
  }

  async run<T>(tenantId: string, retry: () => Promise<T>): Promise<T> {
    const before = this.#ends.get(tenantId);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    this.#ends.set(tenantId, end);
    try {
      await before;
      return await retry();
    } finally {
      if (this.#ends.get(tenantId) === end) this.#ends.delete(tenantId);
      resolve();
    }
  }
}
