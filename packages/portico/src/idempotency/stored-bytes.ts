// How much the stored answers of each tenant take. It is counted from time to time, and what this process stores meanwhile
// is added: a counter in the database would let the writes of a tenant wait for each other.

import { Problem } from "../errors.ts";
import type { PeriodicWork } from "../jobs/periodic-task.ts";
import type { Store } from "../store/store.ts";
import { selectAnyAnswer, selectStoredBytes } from "./table.ts";

/** What the answers of a tenant may take before further requests with a key are refused. */
const maxBytesOfTenant = 256 * 1024 * 1024;
const intervalMs = 60_000;

interface TenantBytes {
  readonly tenantId: string;
  readonly bytes: number;
}

export class StoredBytes {
  readonly #store: Store;
  #ofTenant: ReadonlyMap<string, number> = new Map();
  /** What this process has stored since the last count. */
  #added = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  get work(): PeriodicWork {
    return { name: "counting stored answers", intervalMs, run: () => this.count() };
  }

  async count(): Promise<void> {
    const added = new Map<string, number>();
    const counting = this.#counted();
    // What is stored from now on may not be counted yet.
    this.#added = added;
    const counted = await counting;
    this.#ofTenant = new Map(counted.map(({ tenantId, bytes }) => [tenantId, Number(bytes)]));
  }

  /** The statement that counts is a slow read, for which SQLite starts a thread: a server without answers needs none. */
  async #counted(): Promise<readonly TenantBytes[]> {
    const { database } = this.#store;
    const any = await selectAnyAnswer(this.#store).first(database);
    return any ? selectStoredBytes(this.#store).all(database) : [];
  }

  add(tenantId: string, bytes: number): void {
    this.#added.set(tenantId, (this.#added.get(tenantId) ?? 0) + bytes);
  }

  /** @throws Problem `rate_limited` */
  requireRoom(tenantId: string): void {
    const bytes = (this.#ofTenant.get(tenantId) ?? 0) + (this.#added.get(tenantId) ?? 0);
    if (bytes < maxBytesOfTenant) return;
    throw new Problem(
      "rate_limited",
      "The answers to requests with an `Idempotency-Key` take 256 MiB. They are kept for 24 hours: try again later.",
      [],
      { "Retry-After": "3600" },
    );
  }
}
