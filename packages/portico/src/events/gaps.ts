// Sequence numbers that were passed over. PostgreSQL gives a number before the commit, so that a lower one may be
// seen later; or never, where its transaction was given up.

/** No transaction takes as long as this. */
const patienceMs = 20_000;
const mostGaps = 10_000;

export class Gaps {
  /** Number -> when it was first missed. */
  readonly #missing = new Map<number, number>();
  readonly #now: () => number;
  #last: number;

  /** @param last the highest number that is of no interest */
  constructor(last: number, now: () => number = () => performance.now()) {
    this.#last = last;
    this.#now = now;
  }

  /** The highest number seen. */
  get last(): number {
    return this.#last;
  }

  /** Numbers that may still come. */
  missing(): readonly number[] {
    const before = this.#now() - patienceMs;
    for (const [number, since] of this.#missing) {
      // The oldest come first.
      if (since > before && this.#missing.size <= mostGaps) break;
      this.#missing.delete(number);
    }
    return [...this.#missing.keys()];
  }

  /** A number that was seen, whether it was missed or is the next. */
  see(number: number): void {
    this.#missing.delete(number);
    const first = Math.max(this.#last + 1, number - mostGaps);
    for (let each = first; each < number; each += 1) this.#missing.set(each, this.#now());
    this.#last = Math.max(this.#last, number);
  }
}
