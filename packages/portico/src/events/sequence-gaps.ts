// How far events may be told. PostgreSQL gives a number before the commit, so that a lower one may be seen later; or
// never, where its transaction was given up. What stands behind such a gap waits until every transaction that could
// fill it has ended: the order is the same for everybody then, and to go on after a number misses nothing.
//
// Which transactions these are cannot be told from a snapshot: its xmax is one past the highest transaction that has
// ended, and the holder of a missing number may have a higher id. But whoever takes a number has locked the table
// before, and keeps the lock until the commit can be seen. So those who hold the lock after a gap was seen are the only
// ones who can fill it.

interface PendingGap {
  /** Gaps below this number are those that are waited for. */
  readonly below: number;
  /** The transactions that could still fill them. */
  readonly writers: ReadonlySet<string>;
  readonly since: number;
}

/** The server's own transactions end sooner; one of another program that does not holds up no more. */
const gapTimeoutMs = 5 * 60_000;

export class SequenceGaps {
  readonly #now: () => number;
  #position: number;
  /** What is missing up to this number never comes. */
  #settledUpTo = 0;
  #pending: PendingGap | undefined;

  /** @param position the highest number that is of no interest */
  constructor(position: number, now: () => number = () => performance.now()) {
    this.#position = position;
    this.#now = now;
  }

  /** All up to this number have been told, or never will be. */
  get position(): number {
    return this.#position;
  }

  /** Whether `update` needs to know who writes before numbers are read again. */
  get isWaiting(): boolean {
    return this.#pending !== undefined;
  }

  /** Takes the numbers that were found above `position`, in their order. @returns how many of them may be told */
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

  /** How long the wait takes already. */
  get waitedMs(): number {
    return this.#pending ? this.#now() - this.#pending.since : 0;
  }

  /**
   * Waits for the gaps below a number.
   * @param writers the transactions that write events, asked for after that number was read
   */
  waitFor(below: number, writers: readonly string[]): void {
    this.#pending = { below, writers: new Set(writers), since: this.#now() };
    this.#endWaitIfOver();
  }

  /**
   * Takes the transactions that write events now, asked for before numbers are read again.
   * @returns whether one that is waited for has ended: until then there is nothing new to be told
   */
  update(writers: readonly string[]): boolean {
    const wait = this.#pending;
    if (!wait) return true;
    const left = new Set(writers.filter((writer) => wait.writers.has(writer)));
    this.#pending = { ...wait, writers: left };
    this.#endWaitIfOver();
    return this.#pending === undefined || left.size < wait.writers.size;
  }

  #endWaitIfOver(): void {
    const wait = this.#pending;
    if (!wait || (wait.writers.size > 0 && this.waitedMs <= gapTimeoutMs)) return;
    this.#settledUpTo = wait.below;
    this.#pending = undefined;
  }
}
