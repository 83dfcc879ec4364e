// PostgreSQL: reads are prepared and pipelined over a few connections, transactions have others to themselves.

import { availableParallelism } from "node:os";
import { Problem } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import type {
  ColumnValues,
  Database,
  Maintenance,
  Statement,
  StoreOptions,
  Transaction,
} from "../database.ts";
import { bytesOf, type CountRefused, SlowReadQueue } from "../slow-read-queue.ts";
import { Availability } from "./availability.ts";
import { Connection, endsConnection, statementTimeoutMs } from "./connection.ts";
import { codeOf, isConcurrencyConflict, tooManyConnections, translateError } from "./failures.ts";
import { Pool } from "./pool.ts";
import { Reader } from "./reader.ts";
import { type Ask, transact } from "./transaction.ts";

/**
 * Connections for reads along an index, which are pipelined: the fewer there are, the more statements share a
 * packet, and more than there are cores do not make them faster. Transactions, which hold a connection for several round
 * trips, and reads that may take long have others, so that nobody waits behind them; see `reader.ts`.
 */
const poolSizes = { reading: Math.min(Math.max(availableParallelism() - 1, 1), 4), working: 8, slow: 4 };
/** Reads of one tenant that may take long, at once. */
const slowOfTenant = 3;
/**
 * Shapes that are prepared on the server, which keeps each for the life of a connection. Callers can make
 * shapes without end (`fields`, filters); later ones are planned on each use instead.
 */
const maxPrepared = 400;
/** Characters of a statement that is worth it. */
const maxPreparedLength = 8_000;
/** A read waits so long for a lock, behind a change of its table. */
const lockTimeoutMs = 2_000;
/** So much later than the server the time-out of a slow read is over here, where the server does not answer. */
const networkMs = 1_000;
/** SQLSTATE of a statement that was ended because it took too long. */
const statementTimeout = "57014";
/** After its time-out, a statement has been ended by a server that is there. */
const graceMs = 5_000;
/** How long statements that are under way may take when the database is closed. */
const lastSeconds = 5;

/** A transaction that lost against others that ran at the same time is run again so many times. */
const maxAttempts = 4;

export class PostgresDatabase implements Database {
  readonly isRemote = true;
  readonly #url: string;
  readonly #slowReadMs: number;
  readonly #readers: readonly Reader[];
  readonly #working: Pool;
  readonly #slow: Pool;
  readonly #queue: SlowReadQueue;
  readonly #prepared = new Set<string>();
  #availability: Availability | undefined;
  #countRefused: CountRefused = () => {};
  #turn = 0;

  constructor(url: string, { slowReadMs }: StoreOptions) {
    this.#url = url;
    this.#slowReadMs = slowReadMs;
    const openReader = (): Connection => new Connection(url, { lock_timeout: lockTimeoutMs });
    this.#readers = Array.from({ length: poolSizes.reading }, () => new Reader(openReader));
    this.#working = new Pool(() => new Connection(url), poolSizes.working);
    const slow = { lock_timeout: lockTimeoutMs, statement_timeout: slowReadMs };
    this.#slow = new Pool(() => new Connection(url, slow), poolSizes.slow);
    this.#queue = new SlowReadQueue({
      slots: poolSizes.slow,
      slotsPerTenant: slowOfTenant,
      timeoutMs: slowReadMs + networkMs,
      countRefused: (what) => this.#countRefused(what),
    });
  }

  watch(report: Report, countRefused: CountRefused): void {
    this.#countRefused = countRefused;
    this.#availability = new Availability({
      probe: (signal) => this.#probe(signal),
      connections: () => this.#connections(),
      maxQuietMs: Math.max(statementTimeoutMs, this.#slowReadMs) + graceMs,
      disconnect: (refusal) => {
        for (const reader of this.#readers) reader.destroy(refusal);
        this.#working.destroy(refusal);
        this.#slow.destroy(refusal);
      },
      report,
    });
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    this.#availability?.require();
    try {
      if (statement.mayScan) {
        const tenantId = statement.tenantOf?.(input) ?? "";
        const values = statement.bind(input);
        return await this.#queue.run(tenantId, bytesOf(values), () =>
          this.#readSlowly(statement.sql, values),
        );
      }
      const values = statement.bind(input);
      const reader = this.#nextReader();
      if (reader) return await this.#ask(reader.connection, statement.sql, values);
      return await this.#working.use((connection) => this.#ask(connection, statement.sql, values));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #readSlowly(text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    // The server may have become unavailable while the read waited for its turn.
    this.#availability?.require();
    try {
      return await this.#slow.use((connection) => this.#ask(connection, text, values));
    } catch (error) {
      throw codeOf(error) === statementTimeout ? this.#queue.timedOut() : error;
    }
  }

  /** The readers in turn, but for those that are held up. */
  #nextReader(): Reader | undefined {
    for (const _ of this.#readers) {
      this.#turn = (this.#turn + 1) % this.#readers.length;
      const reader = this.#readers[this.#turn]!;
      if (!reader.isStalled) return reader;
    }
    return undefined;
  }

  async transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      this.#availability?.require();
      try {
        return await this.#working.use((connection) =>
          transact(connection, (statement, input) => this.#askWithin(connection, statement, input), work),
        );
      } catch (error) {
        if (attempt === maxAttempts || !isConcurrencyConflict(error)) throw this.#failure(error);
      }
    }
  }

  async run(text: string): Promise<void> {
    this.#availability?.require();
    try {
      await this.#working.use((connection) => connection.run(text));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** On a connection without time-outs. */
  async maintain<T>(work: (session: Maintenance) => Promise<T>): Promise<T> {
    const settings = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
    const connection = new Connection(this.#url, settings);
    const ask: Ask = (statement, input) => this.#askWithin(connection, statement, input);
    try {
      return await work({
        query: ask,
        transaction: (part) => transact(connection, ask, part, Number.POSITIVE_INFINITY),
        run: (text) => connection.run(text),
      });
    } finally {
      await connection.close(lastSeconds);
    }
  }

  async close(): Promise<void> {
    this.#availability?.close();
    const readers = this.#readers.flatMap((reader) => reader.connections);
    await Promise.all([
      ...readers.map((connection) => connection.close(lastSeconds)),
      this.#working.close(lastSeconds),
      this.#slow.close(lastSeconds),
    ]);
  }

  /** Runs a statement on a connection, as a prepared statement if it is short and one of the first shapes. */
  #ask(connection: Connection, text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    const isPrepared =
      text.length <= maxPreparedLength && (this.#prepared.has(text) || this.#prepared.size < maxPrepared);
    if (isPrepared) this.#prepared.add(text);
    return connection.query(text, values, isPrepared);
  }

  async #askWithin<Input>(
    connection: Connection,
    statement: Statement<Input>,
    input: Input,
  ): Promise<readonly ColumnValues[]> {
    try {
      return await this.#ask(connection, statement.sql, statement.bind(input));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  *#connections(): Iterable<Connection> {
    for (const reader of this.#readers) yield* reader.connections;
    yield* this.#working.connections;
    yield* this.#slow.connections;
  }

  #failure(error: unknown): unknown {
    const cause = error instanceof Problem ? error.cause : error;
    if (this.#availability && endsConnection(cause)) this.#availability.suspect(cause);
    return translateError(error, this.#availability !== undefined);
  }

  /** @throws where the server cannot be reached; one that only has no connection left can */
  async #probe(signal: AbortSignal): Promise<void> {
    const connection = new Connection(this.#url);
    signal.addEventListener("abort", () => connection.destroy());
    try {
      await connection.run("select 1");
    } catch (error) {
      if (codeOf(error) !== tooManyConnections) throw error;
    } finally {
      connection.destroy();
    }
  }
}
