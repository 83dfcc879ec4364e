// A stream of rows on PostgreSQL: a connection of its own, and a cursor in a transaction that only reads.

import type { ColumnValues } from "../database.ts";
import {
  chunkBytes,
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

/** The parameters of its connection. The transaction is idle while the reader is busy. */
export const streamSettings = {
  lock_timeout: lockTimeoutMs,
  statement_timeout: maxSilenceMs,
  idle_in_transaction_session_timeout: maxStreamMs + graceMs,
};

/** Rows that are fetched before their size is known. */
const firstRows = 50;

export class PostgresRowStream implements RowStream {
  total: number | undefined;
  readonly #connection: Connection;
  readonly #maxRows: number;
  readonly #onClose: (stream: PostgresRowStream) => void;
  #rowsToFetch: number;
  #isClosed = false;

  /** @param onClose called once, when the stream is closed */
  constructor(
    connection: Connection,
    { maxRowsInMemory }: Pick<StreamStatements<never>, "maxRowsInMemory">,
    onClose: (stream: PostgresRowStream) => void,
  ) {
    this.#connection = connection;
    this.#maxRows = maxRowsInMemory;
    this.#rowsToFetch = Math.min(firstRows, maxRowsInMemory);
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
      const rows = await this.#query(`fetch ${this.#rowsToFetch} from exported`, []);
      if (rows.length === 0) return undefined;
      const bytes = Buffer.from(rows.map(([text]) => `${text}\n`).join(""));
      this.#adjust(bytes.length / rows.length);
      return { bytes, count: rows.length };
    } catch (error) {
      throw this.#isClosed ? streamClosed() : translateError(error, true);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.destroy();
    this.#onClose(this);
  }

  /** Fetches as many rows next time as make a chunk, at the average size of the latest ones. */
  #adjust(rowBytes: number): void {
    const rows = Math.ceil(chunkBytes / rowBytes);
    this.#rowsToFetch = Math.min(Math.max(1, rows), this.#maxRows);
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
