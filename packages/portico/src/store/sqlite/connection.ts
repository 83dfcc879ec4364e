// One connection to a SQLite file: settings, prepared statements, errors in the words of the store.

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { AnswerTooLarge } from "../../query/answer-size.ts";
import { rowSeparator } from "../../query/page.ts";
import {
  type ColumnValues,
  ConstraintError,
  MissingSchema,
  type Session,
  type Statement,
} from "../database.ts";

/** Prepared statements kept for each connection; a usual one is a few kilobytes. */
const maxPreparedWeight = 500;
/** Characters of such a one; longer statements count as several. */
const typicalStatementLength = 1_000;

/** Pages that each connection keeps; the operating system's cache is behind it, a system call away. */
const cacheKiB = 2 * 1024;

/** What one value may have, a page as text among them, where the connection has no other bound. */
export const maxValueBytes = 64 * 1024 * 1024;

/** How long another process may hold a database that is opened for the first time. */
const openTimeoutMs = 5_000;

/** A connection whose statements are prepared once. */
export class SqliteConnection implements Session {
  readonly native: DatabaseSync;
  readonly #prepared = new BoundedMap<string, StatementSync>(maxPreparedWeight, (text) =>
    Math.ceil(text.length / typicalStatementLength),
  );

  /** @param maxBytes the length of a value, stored or returned, beyond which a statement fails with `AnswerTooLarge` */
  constructor(file: string, busyTimeoutMs: number, maxBytes = maxValueBytes) {
    this.native = new DatabaseSync(file, { timeout: openTimeoutMs });
    this.native.limits.length = maxBytes;
    this.native.exec(
      `pragma journal_mode = wal; pragma busy_timeout = ${busyTimeoutMs}; pragma synchronous = full; pragma foreign_keys = on; pragma cache_size = -${cacheKiB}`,
    );
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.read(statement, input);
  }

  /** The same at once. */
  read<Input>(statement: Statement<Input>, input: Input): readonly ColumnValues[] {
    return this.all(statement.sql, statement.bind(input) as SQLInputValue[]);
  }

  /**
   * All rows. Never `.get()` or `.run()` for statements that answer with rows: they leave the statement open,
   * and an open statement keeps the write-ahead log from being cut.
   */
  all(text: string, values: readonly SQLInputValue[] = []): readonly ColumnValues[] {
    try {
      return this.rows(text, values);
    } catch (error) {
      throw translateError(error);
    }
  }

  /** The same with errors as SQLite has them. */
  rows(text: string, values: readonly SQLInputValue[]): readonly ColumnValues[] {
    // With setReturnArrays every row is an array.
    return this.#prepare(text).all(...values) as unknown as ColumnValues[];
  }

  /**
   * The first rows of a statement, read one by one until the texts of their first column would have more bytes than
   * this. The row that would exceed it stands at the end, with null for its text.
   */
  firstRows(text: string, values: readonly SQLInputValue[], maxBytes: number): readonly ColumnValues[] {
    const found: ColumnValues[] = [];
    // With setReturnArrays every row is an array.
    const rows = this.#prepare(text).iterate(...values) as unknown as Iterator<ColumnValues>;
    let bytes = 0;
    try {
      for (let row = rows.next(); !row.done; row = rows.next()) {
        bytes += Buffer.byteLength(row.value[0] as string) + rowSeparator.length;
        if (bytes > maxBytes) return [...found, withoutText(row.value)];
        found.push(row.value);
      }
      return found;
    } catch (error) {
      if (!isSqliteError(error) || (error.errcode & 0xff) !== tooBig) throw error;
      return [...found, withoutText(found.at(-1) ?? [])];
    } finally {
      // Also after an error: the statement would fail with it once more when it is used again.
      rows.return?.();
    }
  }

  #prepare(text: string): StatementSync {
    const cached = this.#prepared.get(text);
    if (cached) return cached;
    const statement = this.native.prepare(text);
    statement.setReturnArrays(true);
    this.#prepared.set(text, statement);
    return statement;
  }
}

function withoutText([_text, ...rest]: ColumnValues): ColumnValues {
  return [null, ...rest];
}

const constraintUnique = 2067;
const constraintPrimaryKey = 1555;
const constraintForeignKey = 787;
/** `on delete restrict` works as a trigger. */
const constraintTrigger = 1811;

/** Extended result codes of SQLite (sqlite.org/rescode.html) as errors of the store. */
export function translateError(error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  if (error.errcode === constraintForeignKey || error.errcode === constraintTrigger)
    return new ConstraintError("reference", [], error);
  if (error.errcode === constraintUnique || error.errcode === constraintPrimaryKey) {
    // "UNIQUE constraint failed: users.tenant_id, users.email"
    const columns = error.message.split(": ").at(-1)!.split(", ");
    return new ConstraintError(
      "unique",
      columns.map((column) => column.split(".").at(-1)!),
      error,
    );
  }
  if (/^no such (table|column)| has no column named /.test(error.message)) return new MissingSchema(error);
  const code = error.errcode & 0xff;
  if (code === tooBig) return new AnswerTooLarge("fields", error);
  return unavailableCodes.has(code) ? new Problem("unavailable", undefined, [], {}, error) : error;
}

const tooBig = 18;

/**
 * busy, locked, out of memory, read-only, interrupted, input/output, corrupt, full, cannot open, not a database: nothing
 * that a caller could change.
 */
const unavailableCodes = new Set([5, 6, 7, 8, 9, 10, 11, 13, 14, 26]);

/** Whether another process holds the lock (SQLITE_BUSY, SQLITE_LOCKED). */
export function isBusy(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  return isSqliteError(cause) && busyCodes.has(cause.errcode & 0xff);
}

const busyCodes = new Set([5, 6]);

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}
