// The work of one transaction, which may be that of hooks: it has a time limit, and may run several operations at once.

import { AsyncLocalStorage } from "node:async_hooks";
import { Problem } from "../errors.ts";
import { AwaitedResults, notAwaited } from "../lib/awaited-results.ts";
import type { ColumnValues, Statement, Transaction } from "./database.ts";

/** Time limit of the work of one transaction: a hook that never returns must not block all other writes. */
const workTimeoutMs = 10_000;

/**
 * Runs the work of one transaction. When it ends or times out, its session refuses further statements: an operation that
 * a hook did not await cannot run in the transaction of another request.
 */
export async function workWithin<T>(
  session: Transaction,
  work: (session: Transaction) => Promise<T>,
  limitMs: number = workTimeoutMs,
): Promise<T> {
  if (limitMs === Number.POSITIVE_INFINITY) return await work(session);
  let hasEnded = false;
  const requireOpen = (): void => {
    if (hasEnded) throw operationAfterEnd();
  };
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Problem("unavailable", "The write took too long.")), limitMs);
  });
  const results = new AwaitedResults();
  const guarded = new GuardedTransaction(session, requireOpen, results);
  try {
    const result = await Promise.race([guarded.runWork(work), tooLong]);
    results.requireAwaited();
    return result;
  } finally {
    hasEnded = true;
    results.end();
    clearTimeout(timer);
  }
}

function operationAfterEnd(): Error {
  return new Error("an operation started after its transaction had ended; await every operation of a hook");
}

/** The part whose work calls now. */
const callingPart = new AsyncLocalStorage<GuardedTransaction>();

/**
 * A transaction, or a part of it, whose parts run one after another, while its other statements wait: savepoints form a
 * stack, so undoing a part undoes whatever has run since it began.
 */
class GuardedTransaction implements Transaction {
  readonly #unguarded: Transaction;
  readonly #requireNotEnded: () => void;
  /** Fulfilled when the parts, and the statements that wait for them, have ended; undefined if no part runs. */
  #busy: Promise<void> | undefined;
  /** What it is a part of. */
  readonly #outer: GuardedTransaction | undefined;
  #hasEnded = false;

  /** Of the whole transaction. */
  readonly #results: AwaitedResults;

  /** @param requireNotEnded throws if the work has ended that this is a part of, or that has a time limit */
  constructor(
    unguarded: Transaction,
    requireNotEnded: () => void,
    results: AwaitedResults,
    outer?: GuardedTransaction,
  ) {
    this.#unguarded = unguarded;
    this.#requireNotEnded = requireNotEnded;
    this.#results = results;
    this.#outer = outer;
  }

  query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#run(() => this.#unguarded.query(statement, input));
  }

  queryLast<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#run(() => this.#unguarded.queryLast(statement, input));
  }

  nested<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    return this.#runNext(() =>
      this.#unguarded.nested((unguarded) => {
        const part = new GuardedTransaction(unguarded, () => this.#requireOpen(), this.#results, this);
        return callingPart.run(part, () => part.runWork(work));
      }),
    );
  }

  awaited<T>(operation: Promise<T>): Promise<T> {
    return this.#results.add(operation);
  }

  /**
   * Runs its work. What the work has begun and does not wait for ends before the transaction, or its part, does: it would
   * be committed in part otherwise, or be undone with the statements of others.
   *
   * @throws Error if the work has not waited for a write
   */
  async runWork<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    try {
      const result = await work(this);
      if (this.#busy) throw notAwaited();
      return result;
    } finally {
      this.#hasEnded = true;
      while (this.#busy) await this.#busy;
    }
  }

  #requireOpen(): void {
    this.#requireNotEnded();
    if (this.#hasEnded) throw operationAfterEnd();
  }

  #run<T>(run: () => Promise<T>): Promise<T> {
    if (this.#busy) return this.#runNext(run);
    this.#requireOpen();
    return run();
  }

  /** Runs something after what runs now, and before what is requested later. */
  #runNext<T>(run: () => Promise<T>): Promise<T> {
    this.#requireOutsideItsParts();
    const runIfOpen = (): Promise<T> => {
      this.#requireOpen();
      return run();
    };
    const result = this.#busy ? this.#busy.then(runIfOpen) : runIfOpen();
    const end = (): void => {
      if (this.#busy === ended) this.#busy = undefined;
    };
    const ended = result.then(end, end);
    this.#busy = ended;
    return result;
  }

  /** @throws if the call comes from a part of it that runs: the two would wait for each other */
  #requireOutsideItsParts(): void {
    const part = callingPart.getStore();
    if (!this.#busy || !part || part.#hasEnded) return;
    for (let outer = part.#outer; outer; outer = outer.#outer)
      if (outer === this)
        throw new Error("a hook used the rows of the hook that called it; use the rows of its own context");
  }
}
