// PostgreSQL: reads are pipelined over a few shared connections; each transaction and each slow read has a connection of
// its own. One class implements the whole interface of a database, so the file is longer than most.

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
import type { RowStream, StreamOptions, StreamStatements } from "../row-stream.ts";
import { bytesOf, type CountRefused, SlowReadQueue } from "../slow-read-queue.ts";
import { Availability } from "./availability.ts";
import { Connection, endsConnection, statementTimeoutMs } from "./connection.ts";
import { codeOf, isConcurrencyConflict, tooManyConnections, translateError } from "./failures.ts";
import {
  closeTimeoutSeconds,
  graceMs,
  lockTimeout,
  lockTimeoutMs,
  maxRetries,
  networkMs,
  poolSizes,
  slowReadsPerTenant,
  statementTimeout,
  transactionsPerTenant,
  writeLockTimeoutMs,
} from "./limits.ts";
import { Listeners } from "./listeners.ts";
import { Pool } from "./pool.ts";
import { PreparedStatements } from "./prepared-statements.ts";
import { Reader } from "./reader.ts";
import { RetryTurns } from "./retry-turns.ts";
import { PostgresRowStream, streamSettings } from "./row-stream.ts";
import { type QueryInTransaction, transact } from "./transaction.ts";
import { Writers } from "./writers.ts";

type InTurn = <T>(retry: () => Promise<T>) => Promise<T>;

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
  readonly #retryTurns = new RetryTurns();
  readonly #slow: Pool;
  readonly #queue: SlowReadQueue;
  readonly #prepared = new PreparedStatements();
  readonly #listeners: Listeners;
  readonly #streams = new Set<PostgresRowStream>();
  #availability: Availability | undefined;
  #countRefused: CountRefused = () => {};
  #turn = 0;

  constructor(url: string, { slowReadMs }: StoreOptions) {
    this.#url = url;
    this.#slowReadMs = slowReadMs;
    this.#listeners = new Listeners(url);
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
        this.#listeners.destroy(refusal);
        for (const stream of this.#streams) stream.close();
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
    const rows = await this.tryToExecute(statement, input);
    return rows ?? this.transaction((session) => session.query(statement, input), options);
  }

  async tryToExecute<Input>(
    statement: Statement<Input>,
    input: Input,
  ): Promise<readonly ColumnValues[] | undefined> {
    this.#availability?.require();
    try {
      const values = statement.bind(input);
      return await this.#writers.run((connection) => this.#run(connection, statement.sql, values));
    } catch (error) {
      if (codeOf(error) === lockTimeout || isConcurrencyConflict(error)) return undefined;
      throw this.#failure(error);
    }
  }

  async stream<Input>(
    statements: StreamStatements<Input>,
    input: Input,
    { csv, signal }: Pick<StreamOptions, "csv" | "signal">,
  ): Promise<RowStream> {
    this.#availability?.require();
    const options = { maxRows: Math.ceil(statements.maxRowsInMemory / 2), csv };
    const stream = new PostgresRowStream(new Connection(this.#url, streamSettings), options, (closed) =>
      this.#streams.delete(closed),
    );
    signal.addEventListener("abort", () => stream.close(), { once: true });
    if (signal.aborted) stream.close();
    this.#streams.add(stream);
    try {
      return await stream.open(statements, input);
    } catch (error) {
      stream.close();
      await stream.ended;
      throw this.#failure(error);
    }
  }

  transaction<T>(
    work: (session: Transaction) => Promise<T>,
    { tenantId }: TransactionOptions = {},
  ): Promise<T> {
    if (tenantId === undefined) return this.#transact(work, (retry) => retry());
    return this.#turns.run(async () => {
      await this.#retryTurns.wait(tenantId);
      return this.#transact(work, (retry) => this.#retryTurns.run(tenantId, retry));
    }, tenantId);
  }

  async #transact<T>(work: (session: Transaction) => Promise<T>, inTurn: InTurn): Promise<T> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      if (!isConcurrencyConflict(error)) throw this.#failure(error);
    }
    return inTurn(() => this.#retry(work));
  }

  /** Runs a transaction again that has conflicted with others. */
  async #retry<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    for (let retries = 1; ; retries += 1) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        if (retries === maxRetries || !isConcurrencyConflict(error)) throw this.#failure(error);
      }
    }
  }

  async #attempt<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
    this.#availability?.require();
    return this.#transactions.use((connection) =>
      transact(connection, (statement, input) => this.#runIn(connection, statement, input), work),
    );
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
    return this.#listeners.listen(channel, listener);
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
    this.#listeners.close();
    this.#availability?.close();
    for (const stream of this.#streams) stream.close();
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

  #run(connection: Connection, text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    return connection.query(text, values, this.#prepared.includes(text));
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
