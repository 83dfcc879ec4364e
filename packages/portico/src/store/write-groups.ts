// Writes of one kind that are requested at the same time run together, as one statement: they share its round trip, its
// commit, and what the database does once for a statement. If it fails, because of one of them, nothing of it remains, and
// each of them runs alone.

/** Writes of one group. */
const maxWrites = 32;
/** Characters of one group. */
const maxLength = 256 * 1024;
/** Groups that run at the same time. Writes that are requested meanwhile make up the next one. */
const maxRunning = 2;
/** Writes that run alone after a group has failed: where writes often fail, most would run twice. */
const writesAlone = 100;

/** How the writes of a group run. */
export interface GroupRunner<Write, Result> {
  /**
   * Runs several writes, or one, as one statement.
   *
   * @returns their results, in their order; undefined if nothing of them remains and each of them may succeed alone
   */
  readonly together: (writes: readonly Write[]) => Promise<readonly Result[] | undefined>;
  readonly alone: (write: Write) => Promise<Result>;
  /** How many characters a write adds to the statement. */
  readonly lengthOf: (write: Write) => number;
}

interface Pending<Write, Result> {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class WriteGroups<Write, Result> {
  readonly #runner: GroupRunner<Write, Result>;
  readonly #pending: Pending<Write, Result>[] = [];
  #running = 0;
  #isScheduled = false;
  /** Writes that still run alone. */
  #alone = 0;

  constructor(runner: GroupRunner<Write, Result>) {
    this.#runner = runner;
  }

  run(write: Write): Promise<Result> {
    if (this.#alone > 0) {
      this.#alone -= 1;
      return this.#runner.alone(write);
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pending.length === 0) return;
    this.#isScheduled = true;
    // More writes may be requested in the rest of this tick.
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#pending.length > 0 && this.#running < maxRunning) this.#runGroup(this.#nextGroup());
    });
  }

  #nextGroup(): Pending<Write, Result>[] {
    let length = 0;
    const end = this.#pending.findIndex(({ write }, index) => {
      length += this.#runner.lengthOf(write);
      return index > 0 && (index === maxWrites || length > maxLength);
    });
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }

  #runGroup(group: readonly Pending<Write, Result>[]): void {
    this.#running += 1;
    this.#runner.together(group.map(({ write }) => write)).then(
      (results) => {
        this.#ended();
        if (!results) return this.#runAlone(group);
        for (const [index, { resolve }] of group.entries()) resolve(results[index]!);
      },
      (error: unknown) => {
        this.#ended();
        for (const { reject } of group) reject(error);
      },
    );
  }

  #ended(): void {
    this.#running -= 1;
    this.#schedule();
  }

  /** Does not wait for the writes: one that waits for a lock must not hold up further groups. */
  #runAlone(group: readonly Pending<Write, Result>[]): void {
    if (group.length > 1) this.#alone = writesAlone;
    for (const { write, resolve, reject } of group) this.#runner.alone(write).then(resolve, reject);
  }
}
