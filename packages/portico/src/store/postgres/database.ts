// PostgreSQL: reads are pipelined over a few shared connections; each transaction and each slow read has a connection of
// its own.

import { availableParallelism } from "node:os";
import { Problem } from "../../errors.ts";
import { FairQueue } from "../../lib/fair-queue.ts";
import type { Report } from "../../lib/report.ts";
import type {
  ColumnValues,
  Database,
  EndListening,
  Maintenance,
  NotificationListener,
  Statement,
  StoreOptions,
  Transaction,
  TransactionOptions,
} from "../database.ts";
import { bytesOf, type CountRefused, SlowReadQueue } from "../slow-read-queue.ts";
import { Availability } from "./availability.ts";
import { Connection, endsConnection, statementTimeoutMs } from "./connection.ts";
import { codeOf, isConcurrencyConflict, tooManyConnections, translateError } from "./failures.ts";
import { Pool } from "./pool.ts";
import { Reader } from "./reader.ts";
import { type QueryInTransaction, transact } from "./transaction.ts";
import { Writers } from "./writers.ts";

/**
 * The sizes of the connection pools. Quick reads are pipelined: with fewer connections more statements share a packet, and
 * more connections than cores make them no faster. Transactions, which hold a connection for several round trips, and
 * slow reads have their own pools, so that quick reads do not wait behind them (`reader.ts`).
 */
const poolSizes = {
  reads: Math.min(Math.max(availableParallelism() - 1, 1), 4),
  writes: 4,
  transactions: 8,
  slow: 4,
};
/** Concurrent slow reads of one tenant. */
const slowReadsPerTenant = 3;
/** Concurrent transactions of one tenant: its writes may wait for each other's locks, or delete many rows. */
const transactionsPerTenant = 6;
/**
 * The maximum number of prepared statements: the server keeps each for the life of a connection, and callers can create
 * any number of shapes (`fields`, filters). Further shapes are planned at each use.
 */
const maxPrepared = 400;
/** Longer statements are not prepared. */
const maxPreparedLength = 8_000;
/** How long a read waits for a lock, while its table is being changed. */
const lockTimeoutMs = 2_000;
/** How long a pipelined write waits for a lock before it runs in a transaction instead: writes wait behind it. */
const writeLockTimeoutMs = 100;
/** How much longer than the time-out of the server this process waits for a slow read, in case the server does not answer. */
const networkMs = 1_000;
/** SQLSTATE of a statement that the server canceled because of its time-out (`query_canceled`). */
const statementTimeout = "57014";
/** SQLSTATE of a statement that waited too long for a lock (`lock_not_available`). */
const lockTimeout = "55P03";
/** How long after its time-out a reachable server has certainly canceled a statement. */
const graceMs = 5_000;
/** How long pending statements may take when the database is closed. */
const closeTimeoutSeconds = 5;

/** How often a transaction is run in all, if it conflicts with concurrent transactions. */
const maxAttempts = 4;

export class PostgresDatabase implements Database {
  readonly isRemote = true;
  readonly #url: string;
  readonly #slowReadMs: number;
  readonly #readers: readonly Reader[];
  readonly #writers: Writers;
  readonly #transactions: Pool;
  readonly #turns = new FairQueue({
    slots: poolSizes.transactions,
    slotsPerGroup: transactionsPerTenant,
  });
  readonly #slow: Pool;
  readonly #queue: SlowReadQueue;
  readonly #prepared = new Set<string>();
  readonly #listening = new Set<Connection>();
  #isClosed = false;
  #availability: Availability | undefined;
  #countRefused: CountRefused = () => {};
  #turn = 0;

  constructor(url: string, { slowReadMs }: StoreOptions) {
    this.#url = url;
    this.#slowReadMs = slowReadMs;
    const openReader = (): Connection => new Connection(url, { lock_timeout: lockTimeoutMs });
    this.#readers = Array.from({ length: poolSizes.reads }, () => new Reader(openReader));
    this.#writers = new Writers(
      () => new Connection(url, { lock_timeout: writeLockTimeoutMs }),
      poolSizes.writes,
    );
    this.#transactions = new Pool(() => new Connection(url), poolSizes.transactions);
    const slow = { lock_timeout: lockTimeoutMs, statement_timeout: slowReadMs };
    this.#slow = new Pool(() => new Connection(url, slow), poolSizes.slow);
    this.#queue = new SlowReadQueue({
      slots: poolSizes.slow,
      slotsPerTenant: slowReadsPerTenant,
      timeoutMs: slowReadMs + networkMs,
      countRefused: (what) => this.#countRefused(what),
    });
  }

  watch(report: Report, countRefused: CountRefused): void {
    this.#countRefused = countRefused;
    this.#availability = new Availability({
      probe: (signal) => this.#probe(signal),
      connections: () => this.#connections(),
      maxSilentMs: Math.max(statementTimeoutMs, this.#slowReadMs) + graceMs,
      disconnect: (refusal) => {
        for (const reader of this.#readers) reader.destroy(refusal);
        this.#writers.destroy(refusal);
        this.#transactions.destroy(refusal);
        this.#slow.destroy(refusal);
        for (const connection of this.#listening) connection.destroy(refusal);
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
      if (reader) return await this.#run(reader.connection, statement.sql, values);
      return await this.#transactions.use((connection) => this.#run(connection, statement.sql, values));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #readSlowly(text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    // The server may have become unavailable while the read waited for its turn.
    this.#availability?.require();
    try {
      return await this.#slow.use((connection) => this.#run(connection, text, values));
    } catch (error) {
      throw codeOf(error) === statementTimeout ? this.#queue.timedOut() : error;
    }
  }

  /** The next reader in turn that is not stalled. */
  #nextReader(): Reader | undefined {
    for (const _ of this.#readers) {
      this.#turn = (this.#turn + 1) % this.#readers.length;
      const reader = this.#readers[this.#turn]!;
      if (!reader.isStalled) return reader;
    }
    return undefined;
  }

  async execute<Input>(
    statement: Statement<Input>,
    input: Input,
    options?: TransactionOptions,
  ): Promise<readonly ColumnValues[]> {
    this.#availability?.require();
    try {
      const values = statement.bind(input);
      const rows = await this.#writers.run((connection) => this.#run(connection, statement.sql, values));
      if (rows) return rows;
    } catch (error) {
      if (codeOf(error) !== lockTimeout && !isConcurrencyConflict(error)) throw this.#failure(error);
    }
    return this.transaction((session) => session.query(statement, input), options);
  }

  transaction<T>(
    work: (session: Transaction) => Promise<T>,
    { tenantId }: TransactionOptions = {},
  ): Promise<T> {
    if (tenantId === undefined) return this.#transact(work);
    return this.#turns.run(() => this.#transact(work), tenantId);
  }

  async #transact<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      this.#availability?.require();
      try {
        return await this.#transactions.use((connection) =>
          transact(connection, (statement, input) => this.#runIn(connection, statement, input), work),
        );
      } catch (error) {
        if (attempt === maxAttempts || !isConcurrencyConflict(error)) throw this.#failure(error);
      }
    }
  }

  async run(text: string): Promise<void> {
    this.#availability?.require();
    try {
      await this.#transactions.use((connection) => connection.run(text));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async listen(channel: string, listener: NotificationListener): Promise<EndListening> {
    this.#availability?.require();
    const onEnd = (): void => {
      this.#listening.delete(connection);
      listener.onEnd();
    };
    const connection = new Connection(this.#url, {}, { ...listener, onEnd });
    this.#listening.add(connection);
    if (this.#isClosed) connection.destroy();
    try {
      await connection.run(`listen ${channel}`);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return () => connection.destroy();
  }

  /** Runs `work` on a connection without time-outs. */
  async maintain<T>(work: (session: Maintenance) => Promise<T>): Promise<T> {
    const settings = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
    const connection = new Connection(this.#url, settings);
    const query: QueryInTransaction = (statement, input) => this.#runIn(connection, statement, input);
    try {
      return await work({
        query,
        transaction: (part) => transact(connection, query, part, Number.POSITIVE_INFINITY),
        run: (text) => connection.run(text),
      });
    } finally {
      await connection.close(closeTimeoutSeconds);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#listening) connection.destroy();
    this.#availability?.close();
    const pipelined = [
      ...this.#readers.flatMap(({ connections }) => connections),
      ...this.#writers.connections,
    ];
    await Promise.all([
      ...pipelined.map((connection) => connection.close(closeTimeoutSeconds)),
      this.#transactions.close(closeTimeoutSeconds),
      this.#slow.close(closeTimeoutSeconds),
    ]);
  }

  /** Runs a statement on a connection, as a prepared statement if it is short and one of the first shapes. */
  #run(connection: Connection, text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    const isPrepared =
      text.length <= maxPreparedLength && (this.#prepared.has(text) || this.#prepared.size < maxPrepared);
    if (isPrepared) this.#prepared.add(text);
    return connection.query(text, values, isPrepared);
  }

  async #runIn<Input>(
    connection: Connection,
    statement: Statement<Input>,
    input: Input,
  ): Promise<readonly ColumnValues[]> {
    try {
      return await this.#run(connection, statement.sql, statement.bind(input));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  *#connections(): Iterable<Connection> {
    for (const reader of this.#readers) yield* reader.connections;
    yield* this.#writers.connections;
    yield* this.#transactions.connections;
    yield* this.#slow.connections;
  }

  #failure(error: unknown): unknown {
    const cause = error instanceof Problem ? error.cause : error;
    if (this.#availability && endsConnection(cause)) this.#availability.suspect(cause);
    return translateError(error, this.#availability !== undefined);
  }

  /** @throws if the server cannot be reached. A server without free connections can be reached. */
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
