// A queue in the database whose entries are processed one at a time, each in a transaction that also removes it from the
// queue. An entry that fails is set aside and retried later, so that it does not block the others.
//
// For work that is done inside the database. Work that reaches other systems needs leases: `lease-queue.ts`.

import { isUnavailable } from "../errors.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Report } from "../lib/report.ts";
import { endlessRetries } from "./retry-schedule.ts";

/** Failed entries to remember. A forgotten one is retried sooner. */
const maxSetAside = 10_000;
/** Failed entries that one run reports individually. */
const maxReported = 10;

/** Where entries come from, and how one is processed. */
export interface QueueSource<Entry> {
  /** The entries after the given one, in a fixed order; none at the end. */
  page(after: Entry | undefined): Promise<readonly Entry[]>;
  idOf(entry: Entry): string;
  /** Processes an entry and removes it from the queue, in one transaction. */
  process(entry: Entry): Promise<void>;
}

interface Failure {
  readonly attempts: number;
  readonly retryAt: number;
}

export class TransactionalQueue<Entry> {
  readonly #source: QueueSource<Entry>;
  readonly #name: string;
  readonly #report: Report;
  readonly #now: () => number;
  readonly #failures = new BoundedMap<string, Failure>(maxSetAside);

  /** @param name what processing an entry does, for the log: "writing a requested email" */
  constructor(source: QueueSource<Entry>, name: string, report: Report, now: () => number = Date.now) {
    this.#source = source;
    this.#name = name;
    this.#report = report;
    this.#now = now;
  }

  /** Processes every entry once. @throws Problem `unavailable` if the database does not answer */
  async run(): Promise<void> {
    let failed = 0;
    for (let page = await this.#source.page(undefined); page.length > 0; ) {
      for (const entry of page) {
        if (this.#isSetAside(entry) || (await this.#process(entry, failed < maxReported))) continue;
        failed += 1;
      }
      page = await this.#source.page(page.at(-1));
    }
    if (failed > maxReported) this.#report(`${failed} entries failed: ${this.#name}`, { failed });
  }

  #isSetAside(entry: Entry): boolean {
    const failure = this.#failures.get(this.#source.idOf(entry));
    return failure !== undefined && failure.retryAt > this.#now();
  }

  /** @returns whether it succeeded */
  async #process(entry: Entry, isReported: boolean): Promise<boolean> {
    const id = this.#source.idOf(entry);
    try {
      await this.#source.process(entry);
      this.#failures.delete(id);
      return true;
    } catch (err) {
      // If the database does not answer, or the next read fails as well, the entry is not the cause.
      if (isUnavailable(err)) throw err;
      await this.#source.page(entry);
      const attempts = (this.#failures.get(id)?.attempts ?? 0) + 1;
      const delayMs = endlessRetries.delayAfter(attempts)!;
      this.#failures.set(id, { attempts, retryAt: this.#now() + delayMs });
      const facts = { err, entry: id, attempts, retryInSeconds: delayMs / 1_000 };
      if (isReported) this.#report(`${this.#name} failed and is set aside`, facts);
      return false;
    }
  }
}
