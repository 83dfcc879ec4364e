// How far events may be delivered. PostgreSQL assigns sequence numbers before the commit, so a lower number can become
// visible after a higher one, or never if its transaction is rolled back. Events after such a gap wait until every
// transaction that could fill it has ended. Then the order is the same for all subscribers, and one that resumes after
// a number misses nothing.
//
// A snapshot does not show which transactions these are: its xmax is one past the highest transaction that has ended, and
// the transaction of a missing number can have a higher id. But a transaction locks the table before it draws a number,
// and holds the lock until its commit is visible. So only the transactions that hold the lock after the gap was seen can
// fill it.

interface PendingGap {
  /** The gaps below this number are pending. */
  readonly below: number;
  /** Transactions that can still fill them. */
  readonly writers: ReadonlySet<string>;
  readonly since: number;
}

/** The server's own transactions end sooner. A longer one of another program is not waited for. */
const gapTimeoutMs = 5 * 60_000;

export class SequenceGaps {
  readonly #now: () => number;
  #position: number;
  /** Numbers that are missing up to this one will never become visible. */
  #settledUpTo = 0;
  #pending: PendingGap | undefined;

  /** @param position the number after which to start */
  constructor(position: number, now: () => number = () => performance.now()) {
    this.#position = position;
    this.#now = now;
  }

  /** Every event up to this number can be delivered, or will never exist. */
  get position(): number {
    return this.#position;
  }

  /** Whether `update` has to be called before numbers are read again. */
  get isWaiting(): boolean {
    return this.#pending !== undefined;
  }

  /** @param numbers visible numbers after `position`, in their order. @returns how many of them can be delivered */
  advance(numbers: readonly number[]): number {
    let count = 0;
    for (const number of numbers) {
      if (number !== this.#position + 1 && number > this.#settledUpTo) break;
      this.#position = number;
      count += 1;
    }
    if (this.#pending && this.#position >= this.#pending.below) this.#pending = undefined;
    return count;
  }

  /** How long the gaps have been pending. */
  get waitedMs(): number {
    return this.#pending ? this.#now() - this.#pending.since : 0;
  }

  /**
   * Starts to wait for the gaps below a number.
   *
   * @param writers the transactions that write events, read after the number
   */
  waitFor(below: number, writers: readonly string[]): void {
    this.#pending = { below, writers: new Set(writers), since: this.#now() };
    this.#settleIfOver();
  }

  /**
   * @param writers the transactions that write events now, read before the numbers are
   * @returns whether one of the awaited transactions has ended; otherwise no number can have been added
   */
  update(writers: readonly string[]): boolean {
    const pending = this.#pending;
    if (!pending) return true;
    const left = new Set(writers.filter((writer) => pending.writers.has(writer)));
    this.#pending = { ...pending, writers: left };
    this.#settleIfOver();
    return this.#pending === undefined || left.size < pending.writers.size;
  }

  #settleIfOver(): void {
    const pending = this.#pending;
    if (!pending || (pending.writers.size > 0 && this.waitedMs <= gapTimeoutMs)) return;
    this.#settledUpTo = pending.below;
    this.#pending = undefined;
  }
}
