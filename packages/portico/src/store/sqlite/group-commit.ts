// The writer of SQLite (group commit). All writes that are queued when a group starts share one transaction and one flush
// to disk. Each write has its own savepoint, so that a write that fails does not undo the others, unless its first statement
// that writes is the last that can fail: if a group has several such writes, the rows that they insert are put into the search
// index together (`search/deferral.ts`). The many writes of an import are a group of their own.
//
// A group whose commit may be lost is not flushed: SQLite's reads are on the same thread, which would wait for the disk.

import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, Problem } from "../../errors.ts";
import {
  type ColumnValues,
  ConstraintError,
  type Statement,
  type Transaction,
  type TransactionOptions,
} from "../database.ts";
import { workWithin } from "../transaction-work.ts";
import { isBusy, type SqliteConnection } from "./connection.ts";
import type { DatabaseFile } from "./database-file.ts";
import { DeferredIndexing } from "./deferred-indexing.ts";
import { MovedFile } from "./faults.ts";
import { isMigrating } from "./migration-lock.ts";

/** Writes in one group. Further writes wait for the next group, so that the commit of a group is not delayed for long. */
const maxGroupSize = 256;
/** The writes without a savepoint from which on a group indexes their rows together. */
const minIndexedTogether = 4;
/** Time limits for acquiring the write lock while another process holds it, and while that process migrates the file. */
const busyTimeoutMs = 5_000;
const migrationTimeoutMs = 20_000;
const retryDelayMs = 5;

interface WriteOptions extends TransactionOptions {
  /** Time limit of the work; by default that of requests. */
  readonly limitMs?: number;
}

interface Job {
  readonly work: (session: Transaction) => Promise<unknown>;
  readonly options: WriteOptions;
  readonly queuedAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export class GroupCommitWriter {
  readonly #connection: SqliteConnection;
  readonly #file: DatabaseFile;
  readonly #afterGroup: () => void;
  readonly #indexing: DeferredIndexing;
  /** Whether commits are flushed to disk. */
  #isFlushing = true;
  #queue: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(connection: SqliteConnection, file: DatabaseFile, afterGroup: () => void) {
    this.#connection = connection;
    this.#indexing = new DeferredIndexing(connection);
    this.#file = file;
    this.#afterGroup = afterGroup;
  }

  /** Runs `work` in the next group and returns its result after the commit. */
  write<T>(work: (session: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // `resolve` is called with the result of `work`.
      this.#queue.push({ work, options, queuedAt: Date.now(), resolve: resolve as Job["resolve"], reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Runs `work` between two groups and outside a transaction. */
  async runExclusive(work: (connection: SqliteConnection) => void): Promise<void> {
    while (this.#running) await this.#running;
    this.#setFlushing(true);
    work(this.#connection);
  }

  /** Runs the queued writes, copies the write-ahead log into the database (a checkpoint) and closes the connection. */
  async close(): Promise<void> {
    await this.runExclusive(({ native }) => {
      native.exec("pragma wal_checkpoint(truncate)");
      native.close();
    });
  }

  async #runAll(): Promise<void> {
    while (this.#queue.length > 0) {
      // More writes for the group may be queued in the rest of this tick.
      await new Promise(setImmediate);
      await this.#runGroup(this.#nextGroup());
    }
    this.#running = undefined;
  }

  /** The writes that are queued, up to one that shares its transaction with no other. */
  #nextGroup(): readonly Job[] {
    const firstAlone = this.#queue.findIndex(({ options }) => options.isAlone);
    const size = firstAlone < 0 ? maxGroupSize : Math.min(Math.max(firstAlone, 1), maxGroupSize);
    return this.#queue.splice(0, size);
  }

  async #runGroup(group: readonly Job[]): Promise<void> {
    const done: { job: Job; value: unknown }[] = [];
    try {
      if (!this.#file.isInPlace()) throw new MovedFile(false);
      await this.#begin(group);
      const mayDefer = group.filter(({ options }) => options.isSingleWrite).length >= minIndexedTogether;
      for (const job of group) {
        const outcome = await this.#run(job, mayDefer);
        if (outcome) done.push({ job, value: outcome.value });
      }
      this.#indexing.indexRows();
      this.#connection.all("commit");
      // A write is acknowledged only if it is in the file that the next start will open.
      if (!this.#file.isInPlace()) throw new MovedFile(true);
    } catch (error) {
      this.#rollBack();
      for (const job of group) job.reject(error);
      return;
    } finally {
      this.#afterGroup();
    }
    for (const { job, value } of done) job.resolve(value);
  }

  /** @throws within a transaction, which a failed rollback may have left open */
  #setFlushing(isFlushing: boolean): void {
    if (isFlushing === this.#isFlushing) return;
    this.#connection.native.exec(`pragma synchronous = ${isFlushing ? "full" : "normal"}`);
    this.#isFlushing = isFlushing;
  }

  /** A fault of the file may have rolled the transaction back already, or may make the rollback fail. */
  #rollBack(): void {
    this.#indexing.forget();
    try {
      if (this.#connection.native.isTransaction) this.#connection.all("rollback");
    } catch {
      // The next group tries again.
    }
  }

  /** @returns undefined for a write that has failed and left nothing @throws if the whole group has to be rolled back */
  async #run(job: Job, mayDefer: boolean): Promise<{ value: unknown } | undefined> {
    const { isAlone, isSingleWrite, limitMs } = job.options;
    if (isAlone) return { value: await this.#workWithin(job.work, limitMs, true) };
    return isSingleWrite ? this.#runSingleWrite(job, mayDefer) : this.#runJob(job);
  }

  /** @throws if it fails after it has written: only a rollback of the group can undo that */
  async #runSingleWrite(job: Job, mayDefer: boolean): Promise<{ value: unknown } | undefined> {
    const session = new SingleWrite(this.#connection, this.#indexing, mayDefer);
    try {
      return { value: await job.work(session) };
    } catch (error) {
      const isPartial = session.hasWritten || !this.#connection.native.isTransaction;
      if (!isPartial) {
        job.reject(error);
        return undefined;
      }
      // The other writes of the group have violated no constraint, and nobody has refused them.
      if (error instanceof ConstraintError || (error instanceof Problem && !isUnavailable(error)))
        throw new Error("a write was interrupted by a fault", { cause: error });
      throw error;
    }
  }

  /** @throws if the failure has rolled back the whole transaction, as a full disk does */
  async #runJob(job: Job): Promise<{ value: unknown } | undefined> {
    this.#indexing.indexRows();
    this.#connection.all("savepoint write");
    try {
      const value = await this.#workWithin(job.work, job.options.limitMs, false);
      this.#connection.all("release write");
      return { value };
    } catch (error) {
      if (!this.#connection.native.isTransaction) throw error;
      this.#connection.all("rollback to write");
      this.#connection.all("release write");
      job.reject(error);
      return undefined;
    }
  }

  async #workWithin<T>(
    work: (session: Transaction) => Promise<T>,
    limitMs: number | undefined,
    mayDefer: boolean,
  ): Promise<T> {
    let hasEnded = false;
    try {
      return await workWithin(
        transactionOn(this.#connection, this.#indexing, () => hasEnded, mayDefer),
        work,
        limitMs,
      );
    } finally {
      hasEnded = true;
    }
  }

  async #begin(group: readonly Job[]): Promise<void> {
    this.#rollBack();
    this.#setFlushing(group.some(({ options }) => !options.mayBeLost));
    const { queuedAt } = group[0]!;
    for (; ; await sleep(retryDelayMs)) {
      try {
        this.#connection.all("begin immediate");
        return;
      } catch (error) {
        if (!isBusy(error) || this.#isTooLate(queuedAt)) throw error;
      }
    }
  }

  /** The steps of a migration end, however large a table is; another process may hold the lock for ever. */
  #isTooLate(queuedAt: number): boolean {
    const waitedMs = Date.now() - queuedAt;
    return waitedMs > busyTimeoutMs && (waitedMs > migrationTimeoutMs || !isMigrating(this.#file.path));
  }
}

/** The session of a write without a savepoint. */
class SingleWrite implements Transaction {
  readonly #connection: SqliteConnection;
  readonly #indexing: DeferredIndexing;
  readonly #mayDefer: boolean;
  hasWritten = false;

  constructor(connection: SqliteConnection, indexing: DeferredIndexing, mayDefer: boolean) {
    this.#connection = connection;
    this.#indexing = indexing;
    this.#mayDefer = mayDefer;
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    const rows = this.#indexing.read(statement, input, this.#mayDefer);
    this.hasWritten ||= /^\s*(insert|update|delete)\b/i.test(statement.sql);
    return rows;
  }

  queryLast<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.query(statement, input);
  }

  nested<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    this.hasWritten = true;
    return transactionOn(this.#connection, this.#indexing, () => false, false).nested(work);
  }
}

/**
 * @param hasEnded whether the work is over, because it took too long. Its savepoints are gone by then, and those of the
 *   connection belong to others
 * @param mayDefer whether to index the rows that it inserts at the end. Within a savepoint they are indexed at once
 */
function transactionOn(
  connection: SqliteConnection,
  indexing: DeferredIndexing,
  hasEnded: () => boolean,
  mayDefer: boolean,
): Transaction {
  return {
    query: async (statement, input) => indexing.read(statement, input, mayDefer),
    queryLast: async (statement, input) => indexing.read(statement, input, mayDefer),
    async nested(work) {
      indexing.indexRows();
      connection.all("savepoint part");
      try {
        const result = await work(transactionOn(connection, indexing, hasEnded, false));
        if (hasEnded()) throw new Error("the transaction has ended");
        connection.all("release part");
        return result;
      } catch (error) {
        if (!hasEnded() && connection.native.isTransaction) {
          connection.all("rollback to part");
          connection.all("release part");
        }
        throw error;
      }
    },
  };
}
