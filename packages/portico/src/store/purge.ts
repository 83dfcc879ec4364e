// Rows that are kept for some days only are removed when their time is over: in pieces, with a pause after each,
// because SQLite has one writer, for which a caller's write must not wait long.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Report } from "./report.ts";
import { compile, slot } from "./statement.ts";
import type { Store } from "./store.ts";

const rowsAtOnce = 250;
const pauseMs = 50;
const firstAfterMs = 2_000;
const intervalMs = 10 * 60 * 1000;

export const dayMs = 24 * 60 * 60 * 1000;

/** Which rows of a table are over. */
export interface Expiry {
  readonly table: string;
  /** How long a row is kept after the moment that `over` compares. */
  readonly keptMs: number;
  /**
   * Places of the rows that are over, found along an index: `` sql`select row_no from t where minute < ...` ``
   *
   * @param place the column that `select` must answer with
   * @param before a slot for the end of their time
   */
  over(place: RawBuilder<unknown>, before: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A moment as the column of `over` holds it; given in milliseconds since 1970. */
  encode(moment: number): string | number;
  /** The column that tells rows apart, where it is not the database's own. */
  readonly key?: RawBuilder<unknown>;
  /** What `removed` is given of each row. */
  readonly returning?: RawBuilder<unknown>;
  /** Is told of the rows that a transaction has removed, in the same transaction. */
  removed?(session: Session, rows: readonly ColumnValues[]): Promise<void>;
}

interface Removal {
  readonly expiry: Expiry;
  readonly statement: Statement<string | number>;
}

export class Purge {
  readonly #store: Store;
  readonly #removals: readonly Removal[];
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(store: Store, expiries: readonly Expiry[], report: Report) {
    this.#store = store;
    this.#removals = expiries.map((expiry) => ({ expiry, statement: removal(store, expiry) }));
    this.#report = report;
  }

  /** Removes what is over soon after the start, and every ten minutes from then on. */
  start(): void {
    this.#schedule(firstAfterMs);
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
    await this.removeAll();
    if (!this.#isStopped) this.#schedule(intervalMs);
  }

  /** Removes what is over now. What fails is reported. */
  async removeAll(): Promise<void> {
    for (const each of this.#removals) {
      try {
        await this.#remove(each);
      } catch (error) {
        this.#report(`old rows of ${each.expiry.table} cannot be removed; that is tried again`, {
          err: error,
        });
      }
    }
  }

  async #remove({ expiry, statement }: Removal): Promise<void> {
    const before = expiry.encode(Date.now() - expiry.keptMs);
    while (!this.#isStopped) {
      const count = await this.#store.transaction(async (session) => {
        const rows = await session.query(statement, before);
        await expiry.removed?.(session, rows);
        return rows.length;
      });
      if (count < rowsAtOnce) return;
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}

function removal({ dialect }: Store, expiry: Expiry): Statement<string | number> {
  const { table, over, key = dialect.rowPlace, returning = sql`1` } = expiry;
  const found = over(
    key,
    slot((before: string | number) => before),
  );
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(table)} where ${key} in (${found} limit ${sql.lit(rowsAtOnce)}) returning ${returning}`,
  );
}
