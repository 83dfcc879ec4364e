// Deletes rows at the end of their retention period, in batches with a pause after each: SQLite has one writer, and a
// caller's write must not wait long for it.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Session, Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { PeriodicWork } from "./periodic-task.ts";

const batchSize = 250;
const pauseMs = 50;
const delayMs = 2_000;
const intervalMs = 10 * 60 * 1000;
/** Rows that the database may refuse to delete before the rest is left for the next run. */
const maxSkipped = 100;

export const dayMs = 24 * 60 * 60 * 1000;

/** How long the rows of a table are kept. */
export interface RetentionPolicy {
  readonly table: string;
  readonly retentionMs: number;
  /**
   * Selects the expired rows along an index: `` sql`select row_no from t where created_at < ...` ``
   *
   * @param column the column to select
   * @param before parameter for the end of the retention period, as `encode` returns it
   */
  selectExpired(column: RawBuilder<unknown>, before: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Converts a time (milliseconds since 1970) into the form of the column that `selectExpired` compares. */
  encode(time: number): string | number;
  /** The column that identifies rows; the row id of the database by default. */
  readonly key?: RawBuilder<unknown>;
  /** The columns of deleted rows that `onDeleted` gets. */
  readonly returning?: readonly string[];
  /** Called in the transaction that deletes the rows, with the `returning` columns of each by name. */
  onDeleted?(session: Session, rows: readonly object[]): Promise<void>;
}

/** A range of the expired rows: `count` rows after the first `skipped`, which the database refuses to delete. */
interface Batch {
  readonly before: string | number;
  readonly count: number;
  readonly skipped: number;
}

interface CompiledPolicy {
  readonly policy: RetentionPolicy;
  readonly deleteBatch: Statement<Batch>;
}

export class Purge {
  readonly #store: Store;
  readonly #policies: readonly CompiledPolicy[];
  readonly #report: Report;

  constructor(store: Store, policies: readonly RetentionPolicy[], report: Report) {
    this.#store = store;
    this.#policies = policies.map((policy) => ({ policy, deleteBatch: deleteStatement(store, policy) }));
    this.#report = report;
  }

  /**
   * Deletes all expired rows. Failures are reported.
   *
   * @param signal ends the purge after the current batch
   */
  async purgeAll(signal?: AbortSignal): Promise<void> {
    for (const each of this.#policies) {
      try {
        await this.#purge(each, signal);
      } catch (err) {
        this.#report(`old rows of ${each.policy.table} cannot be deleted; it is tried again`, { err });
      }
    }
  }

  async #purge(compiled: CompiledPolicy, signal: AbortSignal | undefined): Promise<void> {
    const { policy } = compiled;
    const before = policy.encode(Date.now() - policy.retentionMs);
    let skipped = 0;
    // After a batch has failed, that many rows are deleted one at a time, to find the row that is the cause.
    let singly = 0;
    while (!signal?.aborted) {
      const count = singly > 0 ? 1 : batchSize;
      let deleted: number;
      try {
        deleted = await this.#deleteBatch(compiled, { before, count, skipped });
      } catch (err) {
        if (isUnavailable(err) || skipped >= maxSkipped) throw err;
        if (count > 1) singly = batchSize;
        else {
          skipped += 1;
          if (skipped === 1)
            this.#report(
              `an old row of ${policy.table} cannot be deleted; others are, and it is tried again`,
              {
                err,
              },
            );
        }
        continue;
      }
      if (deleted < count) return;
      if (singly > 0) singly -= 1;
      else await sleep(pauseMs, undefined, { ref: false });
    }
  }

  #deleteBatch({ policy, deleteBatch }: CompiledPolicy, batch: Batch): Promise<number> {
    return this.#store.transaction(async (session) => {
      const rows = await session.query(deleteBatch, batch);
      const { onDeleted, returning = [] } = policy;
      await onDeleted?.(
        session,
        rows.map((row) => Object.fromEntries(returning.map((name, index) => [name, row[index]]))),
      );
      return rows.length;
    });
  }
}

/** Purges soon after the start, and then every ten minutes. */
export function purgeWork(store: Store, policies: readonly RetentionPolicy[], report: Report): PeriodicWork {
  const purge = new Purge(store, policies, report);
  return { name: "deleting old rows", delayMs, intervalMs, run: (signal) => purge.purgeAll(signal) };
}

function deleteStatement({ dialect }: Store, policy: RetentionPolicy): Statement<Batch> {
  const { table, selectExpired, key = dialect.rowIdColumn, returning } = policy;
  const expired = selectExpired(
    key,
    parameter(({ before }: Batch) => before),
  );
  const count = sql`cast(${parameter((batch: Batch) => batch.count)} as integer)`;
  const skipped = sql`cast(${parameter((batch: Batch) => batch.skipped)} as integer)`;
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(table)} where ${key} in (${expired} limit ${count} offset ${skipped}) returning ${returning ? sql.join(returning.map((name) => sql.ref(name))) : sql`1`}`,
  );
}
