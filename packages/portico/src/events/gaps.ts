// How far events may be told. PostgreSQL gives a number before the commit, so that a lower one may be seen later; or
// never, where its transaction was given up. What stands behind such a gap waits until every transaction that could
// fill it has ended: the order is the same for everybody then, and to go on after a number misses nothing.

/** Ids of transactions as a statement saw them. */
export interface Snapshot {
  /** All below it have ended. */
  readonly oldest: number;
  /** The one that begins next. */
  readonly next: number;
}

interface Wait {
  /** Gaps below this number are those that are waited for. */
  readonly below: number;
  /** What was under way when they were seen has an id below this one. */
  readonly next: number;
  readonly since: number;
}

/** No transaction takes as long as this; one of another program that does holds up no more. */
const patienceMs = 20_000;

export class Gaps {
  readonly #now: () => number;
  #told: number;
  #wait: Wait | undefined;

  /** @param told the highest number that is of no interest */
  constructor(told: number, now: () => number = () => performance.now()) {
    this.#told = told;
    this.#now = now;
  }

  /** All up to this number have been told, or never will be. */
  get told(): number {
    return this.#told;
  }

  /**
   * Takes what was found above `told` and answers how many of it may be told.
   * @param numbers in their order
   */
  settle(numbers: readonly number[], { oldest, next }: Snapshot): number {
    // The holder of a number that is missing below one that is seen was under way when that was seen.
    const wait = this.#wait;
    const isOver = wait !== undefined && (oldest >= wait.next || this.#now() - wait.since > patienceMs);
    let count = 0;
    for (const number of numbers) {
      const isPassed = oldest >= next || (isOver && number <= wait.below);
      if (number !== this.#told + 1 && !isPassed) break;
      this.#told = number;
      count += 1;
    }
    if (isOver || (wait && this.#told >= wait.below)) this.#wait = undefined;
    if (count < numbers.length) this.#wait ??= { below: numbers.at(-1)!, next, since: this.#now() };
    return count;
  }
}
