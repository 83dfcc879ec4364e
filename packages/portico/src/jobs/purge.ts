// Rows that are kept for some days only are removed when their time is over: in pieces, with a pause after each,
// because SQLite has one writer, for which a caller's write must not wait long.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { ColumnValues, Session, Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";

const batchSize = 250;
const pauseMs = 50;
const initialDelayMs = 2_000;
const intervalMs = 10 * 60 * 1000;

export const dayMs = 24 * 60 * 60 * 1000;

/** Which rows of a table are over. */
export interface RetentionPolicy {
  readonly table: string;
  /** How long a row is kept after the moment that `selectExpired` compares. */
  readonly retentionMs: number;
  /**
   * Places of the rows that are over, found along an index: `` sql`select row_no from t where minute < ...` ``
   *
   * @param column the column that `select` must answer with
   * @param before a slot for the end of their time
   */
  selectExpired(column: RawBuilder<unknown>, before: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A moment as the column of `selectExpired` holds it; given in milliseconds since 1970. */
  encode(time: number): string | number;
  /** The column that tells rows apart, where it is not the database's own. */
  readonly key?: RawBuilder<unknown>;
  /** What `removed` is given of each row. */
  readonly returning?: RawBuilder<unknown>;
  /** Is told of the rows that a transaction has removed, in the same transaction. */
  removed?(session: Session, rows: readonly ColumnValues[]): Promise<void>;
}

interface PurgeStep {
  readonly policy: RetentionPolicy;
  readonly statement: Statement<Part>;
}

/** Some of the rows that are over: so many, after so many that the database refuses to remove. */
interface Part {
  readonly before: string | number;
  readonly count: number;
  readonly skipped: number;
}

/** Rows that may be refused before the rest is left for the next time. */
const maxRefused = 100;

export class Purge {
  readonly #store: Store;
  readonly #steps: readonly PurgeStep[];
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(store: Store, policies: readonly RetentionPolicy[], report: Report) {
    this.#store = store;
    this.#steps = policies.map((expiry) => ({ policy: expiry, statement: purgeStatement(store, expiry) }));
    this.#report = report;
  }

  /** Removes what is over soon after the start, and every ten minutes from then on. */
  start(): void {
    this.#schedule(initialDelayMs);
  }

  /** Waits for the piece that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, afterMs).unref();
  }

  async #run(): Promise<void> {
    await this.purgeAll();
    if (!this.#isStopped) this.#schedule(intervalMs);
  }

  /** Removes what is over now. What fails is reported. */
  async purgeAll(): Promise<void> {
    for (const each of this.#steps) {
      try {
        await this.#purge(each);
      } catch (error) {
        this.#report(`old rows of ${each.policy.table} cannot be removed; that is tried again`, {
          err: error,
        });
      }
    }
  }

  async #purge(removal: PurgeStep): Promise<void> {
    const before = removal.policy.encode(Date.now() - removal.policy.retentionMs);
    let skipped = 0;
    // Rows that are still removed one by one: one of some that were refused together is at fault.
    let singly = 0;
    while (!this.#isStopped) {
      const count = singly > 0 ? 1 : batchSize;
      let removed: number;
      try {
        removed = await this.#removePart(removal, { before, count, skipped });
      } catch (error) {
        if (isUnavailable(error) || skipped >= maxRefused) throw error;
        if (count > 1) singly = batchSize;
        else {
          skipped += 1;
          if (skipped === 1) this.#tellRefused(removal, error);
        }
        continue;
      }
      if (removed < count) return;
      if (singly > 0) singly -= 1;
      else await sleep(pauseMs, undefined, { ref: false });
    }
  }

  #removePart({ policy, statement }: PurgeStep, part: Part): Promise<number> {
    return this.#store.transaction(async (session) => {
      const rows = await session.query(statement, part);
      await policy.removed?.(session, rows);
      return rows.length;
    });
  }

  #tellRefused({ policy: { table } }: PurgeStep, err: unknown): void {
    this.#report(`an old row of ${table} cannot be removed; the others are, and it is tried again`, { err });
  }
}

function purgeStatement({ dialect }: Store, expiry: RetentionPolicy): Statement<Part> {
  const { table, selectExpired, key = dialect.rowIdColumn, returning = sql`1` } = expiry;
  const expired = selectExpired(
    key,
    parameter(({ before }: Part) => before),
  );
  const count = sql`cast(${parameter((part: Part) => part.count)} as integer)`;
  const skipped = sql`cast(${parameter((part: Part) => part.skipped)} as integer)`;
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(table)} where ${key} in (${expired} limit ${count} offset ${skipped}) returning ${returning}`,
  );
}
