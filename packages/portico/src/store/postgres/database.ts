// PostgreSQL through postgres.js: statements are prepared and pipelined over a few connections.

import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { OperatorError, Problem } from "../../errors.ts";
import {
  type ColumnValues,
  ConstraintError,
  type Database,
  type Statement,
  type StoreOptions,
  type Transaction,
  unmigrated,
  workWithin,
} from "../database.ts";
import { FairQueue } from "../fair-queue.ts";
import { Reader } from "./reader.ts";

/**
 * Connections for reads along an index, which are pipelined: the fewer there are, the more statements share a
 * packet, and more than there are cores do not make them faster. Transactions, which hold a connection for several round
 * trips, and reads that may take long have others, so that nobody waits behind them; see `reader.ts`.
 */
const connections = { reading: Math.min(Math.max(availableParallelism() - 1, 1), 4), working: 8, slow: 4 };
/** Reads of one tenant that may take long, at once. */
const slowOfTenant = 3;
/**
 * Shapes that are prepared on the server, which keeps each for the life of a connection. Callers can make
 * shapes without end (`fields`, filters); later ones are planned on each use instead.
 */
const mostPrepared = 400;
/** Characters of a statement that is worth it. */
const longestPrepared = 8_000;
/** The driver tries a host that does not answer again and again; a start gives up. */
const longestConnectMs = 10_000;
/** A read waits so long for a lock, behind a change of its table. */
const longestLockMs = 2_000;
/** A statement that takes longer than this is ended by the server. */
const statementTimeoutMs = 15_000;
/**
 * A transaction whose process says nothing for so long is given up by the server, as that of a machine that is gone:
 * until it ends, no later event is told. The work of a transaction is bounded to less.
 */
const idleTransactionTimeoutMs = 60_000;

/** So much later than the server the time-out of a slow read is over here, where the server does not answer. */
const networkMs = 1_000;

/** A transaction that lost against others that ran at the same time is run again so many times. */
const mostAttempts = 4;

type Sql = postgres.Sql | postgres.TransactionSql;

export class PostgresDatabase implements Database {
  readonly isRemote = true;
  readonly #readers: readonly Reader[];
  readonly #working: postgres.Sql;
  readonly #slow: postgres.Sql;
  readonly #queue: FairQueue;
  readonly #prepared = new Set<string>();
  #turn = 0;

  constructor(url: string, { slowReadMs }: StoreOptions) {
    const options = {
      connect_timeout: 5,
      max_lifetime: 60 * 30,
      onnotice: () => {},
      connection: {
        application_name: "portico",
        TimeZone: "UTC",
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
      },
      types: {
        // JSON comes and goes as text: it is written and read by others.
        json: { to: 114, from: [114], serialize: (text: string) => text, parse: (text: string) => text },
      },
    };
    const connection = { ...options.connection, lock_timeout: longestLockMs };
    this.#readers = Array.from(
      { length: connections.reading },
      () => new Reader(postgres(url, { ...options, connection, max: 1 })),
    );
    this.#working = postgres(url, { ...options, max: connections.working });
    const slow = { ...connection, statement_timeout: slowReadMs };
    this.#slow = postgres(url, { ...options, connection: slow, max: connections.slow });
    this.#queue = new FairQueue({
      slots: connections.slow,
      tenantSlots: slowOfTenant,
      timeoutMs: slowReadMs + networkMs,
    });
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    if (statement.mayScan) {
      const tenantId = statement.tenantOf?.(input) ?? "";
      return this.#queue.run(tenantId, () => this.#query(this.#slow, statement, input));
    }
    const reader = this.#nextReader();
    if (!reader) return this.#query(this.#working, statement, input);
    return reader.read((sql) => this.#query(sql, statement, input));
  }

  /** The readers in turn, but for those that are held up. */
  #nextReader(): Reader | undefined {
    for (const _ of this.#readers) {
      this.#turn = (this.#turn + 1) % this.#readers.length;
      const reader = this.#readers[this.#turn]!;
      if (!reader.isHeldUp) return reader;
    }
    return undefined;
  }

  async transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await this.#working.begin((sql) => workWithin(this.#transactionOn(sql), work));
        // `begin` answers with what `work` answered with, unless that is a list of queries, which it never is.
        return result as T;
      } catch (error) {
        if (attempt === mostAttempts || !isUndoneByRivals(error)) throw translated(error);
      }
    }
  }

  /** The driver gives up a transaction for any statement that fails, but for those of a savepoint of its own. */
  #transactionOn(sql: postgres.TransactionSql): Transaction {
    return {
      query: (statement, input) => this.#query(sql, statement, input),
      nested: async <T>(work: (part: Transaction) => Promise<T>) =>
        (await sql.savepoint((inner) => work(this.#transactionOn(inner)))) as T,
    };
  }

  async run(text: string): Promise<void> {
    try {
      await this.#working.unsafe(text).simple();
    } catch (error) {
      throw translated(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#readers.map(({ sql }) => sql), this.#working, this.#slow].map((sql) =>
        sql.end({ timeout: 5 }),
      ),
    );
  }

  async #query<Input>(sql: Sql, statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    const isPrepared =
      statement.sql.length <= longestPrepared &&
      (this.#prepared.has(statement.sql) || this.#prepared.size < mostPrepared);
    if (isPrepared) this.#prepared.add(statement.sql);
    try {
      // The slots of a statement bind to values that the driver knows how to write.
      const values = statement.bind(input) as postgres.ParameterOrJSON<never>[];
      return await sql.unsafe(statement.sql, values, { prepare: isPrepared }).values();
    } catch (error) {
      throw translated(error);
    }
  }
}

/** Checks that the database answers, so that the start can fail with one line. */
export async function checkPostgres(database: PostgresDatabase, url: string): Promise<void> {
  try {
    await Promise.race([
      database.run("select 1"),
      sleep(longestConnectMs, undefined, { ref: false }).then(noAnswer),
    ]);
  } catch (error) {
    // The start fails with the first error; closing what never opened has nothing to add.
    database.close().catch(() => {});
    const cause = error instanceof Problem ? error.cause : error;
    throw new OperatorError(`the database ${withoutPassword(url)} cannot be reached: ${messageOf(cause)}`);
  }
}

function noAnswer(): never {
  throw new Error(`no answer within ${longestConnectMs / 1000} seconds`);
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : "in DATABASE_URL";
}

/** SQLSTATE codes (PostgreSQL, appendix A) and connection faults as errors of the store. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const { code } = error;
  if (code === "23503" || code === "23001") return new ConstraintError("reference", [], error);
  if (code === "42P01" || code === "42703") return unmigrated(error);
  if (code === "23505") return new ConstraintError("unique", columnsOf(error), error);
  return isUnavailable(String(code)) ? new Problem("unavailable", undefined, [], {}, error) : error;
}

/** Deadlocks and serialisation failures: nothing remains of the transaction, and the next try may succeed. */
function isUndoneByRivals(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof Error && "code" in cause && (cause.code === "40P01" || cause.code === "40001");
}

/** `Key (tenant_id, email)=(...) already exists.` */
function columnsOf(error: Error): string[] {
  const detail = "detail" in error ? String(error.detail) : "";
  return /^Key \(([^)]*)\)=/.exec(detail)?.[1]?.split(", ") ?? [];
}

/** Lost or refused connections, deadlocks, locks that do not come, exhausted resources, time-outs, shutdown. */
function isUnavailable(code: string): boolean {
  return /^(08|40|53|55|57|58|CONNECT|CONNECTION|E[A-Z]+$)/.test(code);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
