// The wait of visible events for an earlier transaction on PostgreSQL: how often to poll meanwhile, when to find out which
// transactions belong to other databases, and when to report it.

import type { Report } from "../lib/report.ts";
import type { Store } from "../store/store.ts";
import { horizonOf, ownerOf } from "./horizon.ts";

/** Polling interval while events wait. It grows with the wait. */
const pollIntervalMs = { min: 5, max: 100 };

export interface WaitOptions {
  /** How long events wait before transactions of other databases are looked up, which costs two statements a poll. */
  readonly foreignLookupMs: number;
  /** How long events wait for a transaction before that is reported. */
  readonly longWaitMs: number;
}

export class HorizonWait {
  readonly #store: Store;
  readonly #report: Report;
  readonly #options: WaitOptions;
  /** The first event that waits; undefined if none does. */
  #first: string | undefined;
  #since = 0;
  #isReported = false;

  constructor(store: Store, report: Report, options: WaitOptions) {
    this.#store = store;
    this.#report = report;
    this.#options = options;
  }

  /** @param first the first event that waits; undefined if none does */
  update(first: string | undefined): void {
    if (this.#first === first) return;
    this.#first = first;
    this.#since = performance.now();
    this.#isReported = false;
  }

  get pollDelayMs(): number {
    return Math.min(Math.max(this.#waitedMs / 10, pollIntervalMs.min), pollIntervalMs.max);
  }

  get #waitedMs(): number {
    return this.#first === undefined ? 0 : performance.now() - this.#since;
  }

  /** Transactions before this one have ended; 0 while that is not worth finding out. */
  async horizon(): Promise<number> {
    const { foreignLookupMs, longWaitMs } = this.#options;
    if (this.#first === undefined || this.#waitedMs < foreignLookupMs) return 0;
    const horizon = await horizonOf(this.#store);
    if (this.#waitedMs >= longWaitMs && !this.#isReported) {
      this.#isReported = true;
      const seconds = Math.round(this.#waitedMs / 1000);
      const details = { seconds, transaction: horizon, ...(await ownerOf(this.#store, horizon)) };
      this.#report("events wait for a transaction that has not ended", details);
    }
    return horizon;
  }
}
