// A stream of rows on PostgreSQL: a connection of its own, and a cursor in a transaction that only reads.

import type { CsvFormat } from "../../lib/csv.ts";
import type { ColumnValues } from "../database.ts";
import {
  chunkLength,
  linesOf,
  maxSilenceMs,
  maxStreamMs,
  type RowChunk,
  type RowStream,
  type StreamStatements,
  streamClosed,
  tooSlow,
} from "../row-stream.ts";
import type { Connection } from "./connection.ts";
import { codeOf, translateError } from "./failures.ts";
import { graceMs, lockTimeoutMs, statementTimeout } from "./limits.ts";

/** How often the server looks, while a statement runs, whether the connection is still open. */
const connectionCheckMs = 1_000;

/** The parameters of its connection. The transaction is idle while the reader is busy. */
export const streamSettings = {
  client_connection_check_interval: connectionCheckMs,
  lock_timeout: lockTimeoutMs,
  statement_timeout: maxSilenceMs,
  idle_in_transaction_session_timeout: maxStreamMs + graceMs,
};

/** Rows that are fetched before their size is known. */
const firstRows = 50;

interface RowStreamOptions {
  /** How many rows a statement may fetch: two chunks are in memory at once. */
  readonly maxRows: number;
  readonly csv: CsvFormat | undefined;
}

export class PostgresRowStream implements RowStream {
  total: number | undefined;
  readonly #connection: Connection;
  readonly #options: RowStreamOptions;
  readonly #onClose: (stream: PostgresRowStream) => void;
  #rowsToFetch: number;
  /** The next chunk, which the server finds while the reader is busy with the one before. */
  #ahead: Promise<RowChunk | undefined> | undefined;
  #isClosed = false;
  readonly #ended = Promise.withResolvers<void>();
  readonly ended = this.#ended.promise;

  /** @param onClose called once, when the stream is closed */
  constructor(
    connection: Connection,
    options: RowStreamOptions,
    onClose: (stream: PostgresRowStream) => void,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#rowsToFetch = Math.min(firstRows, options.maxRows);
    this.#onClose = onClose;
  }

  /** Begins to read. @throws the error of a statement */
  async open<Input>({ rows, count }: StreamStatements<Input>, input: Input): Promise<this> {
    // The count and the rows are those of one moment.
    await this.#run(() => this.#connection.run("begin isolation level repeatable read read only"));
    if (count) {
      const [counted] = await this.#query(count.sql, count.bind(input));
      this.total = counted![0] as number;
    }
    await this.#query(`declare exported no scroll cursor for ${rows.sql}`, rows.bind(input));
    return this;
  }

  async next(): Promise<RowChunk | undefined> {
    if (this.#isClosed) throw streamClosed();
    try {
      const chunk = await (this.#ahead ?? this.#fetch());
      this.#ahead = chunk && this.#fetch();
      // Its error is that of the next call, if there is one.
      this.#ahead?.catch(() => {});
      return chunk;
    } catch (error) {
      throw this.#isClosed ? streamClosed() : translateError(error, true);
    }
  }

  /** The server notices it within a second. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.destroy();
    this.#onClose(this);
    this.#ended.resolve();
  }

  async #fetch(): Promise<RowChunk | undefined> {
    const rows = await this.#query(`fetch ${this.#rowsToFetch} from exported`, []);
    if (rows.length === 0) return undefined;
    const texts = rows.map(([text]) => text as string);
    const lines = linesOf(texts, this.#options.csv);
    this.#adjust(lines.length / rows.length);
    return { lines, count: rows.length };
  }

  /** Fetches as many rows next time as make a chunk, at the average size of the latest ones. */
  #adjust(rowLength: number): void {
    const rows = Math.ceil(chunkLength / rowLength);
    this.#rowsToFetch = Math.min(Math.max(1, rows), this.#options.maxRows);
  }

  #query(text: string, values: readonly unknown[]): Promise<readonly ColumnValues[]> {
    return this.#run(() => this.#connection.query(text, values, false));
  }

  /** Runs a statement, which the server cancels if it takes too long. */
  async #run<T>(send: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.close(), maxSilenceMs + graceMs);
    try {
      return await send();
    } catch (error) {
      throw codeOf(error) === statementTimeout ? tooSlow() : error;
    } finally {
      clearTimeout(timer);
    }
  }
}
