// Queues in the database whose entries are worked on one by one, each in a transaction of its own. An entry that fails
// is set aside and tried again later, ever less often, so that it holds up no other.

import { isUnavailable } from "../errors.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Report } from "../lib/report.ts";

const firstWaitMs = 5_000;
const maxWaitMs = 60 * 60 * 1_000;
/** Entries that are remembered as failed; a forgotten one is tried again sooner. */
const maxSetAside = 10_000;
/** Failed entries that one run reports by name. */
const maxReported = 10;

/** The entries of a queue, and what is done with each. */
export interface QueueSource<Entry> {
  /** The entries after the given one, in a fixed order; empty at the end. */
  page(after: Entry | undefined): Promise<readonly Entry[]>;
  /** What an entry is known by. */
  idOf(entry: Entry): string;
  /** Works on an entry and takes it out of the queue, both in one transaction. */
  process(entry: Entry): Promise<void>;
}

interface Failure {
  readonly count: number;
  readonly retryAt: number;
}

export class TransactionalQueue<Entry> {
  readonly #queue: QueueSource<Entry>;
  readonly #what: string;
  readonly #report: Report;
  readonly #now: () => number;
  readonly #failures = new BoundedMap<string, Failure>(maxSetAside);

  /** @param what the entries are, for the log: "a mail that was asked for" */
  constructor(queue: QueueSource<Entry>, what: string, report: Report, now: () => number = Date.now) {
    this.#queue = queue;
    this.#what = what;
    this.#report = report;
    this.#now = now;
  }

  /** Works through the queue once. @throws where the database does not answer */
  async run(): Promise<void> {
    let failed = 0;
    for (let page = await this.#queue.page(undefined); page.length > 0; ) {
      for (const entry of page) {
        if (this.#isSetAside(entry) || (await this.#worksOn(entry, failed < maxReported))) continue;
        failed += 1;
      }
      page = await this.#queue.page(page.at(-1));
    }
    if (failed > maxReported) this.#report(`${failed} entries failed: ${this.#what}`, { failed });
  }

  #isSetAside(entry: Entry): boolean {
    const failure = this.#failures.get(this.#queue.idOf(entry));
    return failure !== undefined && failure.retryAt > this.#now();
  }

  async #worksOn(entry: Entry, isReported: boolean): Promise<boolean> {
    const name = this.#queue.idOf(entry);
    try {
      await this.#queue.process(entry);
      this.#failures.delete(name);
      return true;
    } catch (err) {
      // Where the database does not answer, or nothing can be read either, it is not the entry that is at fault.
      if (isUnavailable(err)) throw err;
      await this.#queue.page(entry);
      const count = (this.#failures.get(name)?.count ?? 0) + 1;
      const waitMs = Math.min(firstWaitMs * 4 ** (count - 1), maxWaitMs);
      this.#failures.set(name, { count, retryAt: this.#now() + waitMs });
      const facts = { err, entry: name, attempts: count, retryInSeconds: waitMs / 1_000 };
      if (isReported) this.#report(`${this.#what} failed and is set aside`, facts);
      return false;
    }
  }
}
