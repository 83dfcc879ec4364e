// A connection to a SQLite file: its settings, its prepared statements, and the translation of its errors.

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

/** Prepared statements cached for each connection; a typical one is a few kilobytes. */
const maxPreparedWeight = 500;
/** Characters of a typical statement; a longer one counts as several. */
const typicalStatementLength = 1_000;

/** The page cache of each connection. Other pages are in the cache of the operating system, one system call away. */
const cacheKiB = 2 * 1024;

/**
 * The pages of the write-ahead log after which a commit copies them into the database (a checkpoint), 64 MB. A page that
 * many commits change is copied once. Reads take as long with such a log as with an empty one.
 */
const checkpointPages = 16_000;

/** The default maximum length of a value. A page as text is one value. */
export const maxValueBytes = 64 * 1024 * 1024;

/** How long to wait for another process that holds a lock while the database is opened. */
const openTimeoutMs = 5_000;

/** A connection that prepares each statement once. */
export class SqliteConnection implements Session {
  readonly native: DatabaseSync;
  readonly #prepared = new BoundedMap<string, StatementSync>(maxPreparedWeight, (text) =>
    Math.ceil(text.length / typicalStatementLength),
  );

  /** @param maxBytes maximum length of a stored or returned value; a statement beyond it fails with `AnswerTooLarge` */
  constructor(file: string, busyTimeoutMs: number, maxBytes = maxValueBytes, readOnly = false) {
    this.native = new DatabaseSync(file, { timeout: openTimeoutMs, readOnly });
    this.native.limits.length = maxBytes;
    this.native.exec(
      `pragma journal_mode = wal; pragma busy_timeout = ${busyTimeoutMs}; pragma synchronous = full; pragma foreign_keys = on; pragma cache_size = -${cacheKiB}; pragma wal_autocheckpoint = ${checkpointPages}`,
    );
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.read(statement, input);
  }

  /** Runs a statement synchronously. */
  read<Input>(statement: Statement<Input>, input: Input): readonly ColumnValues[] {
    return this.all(statement.sql, statement.bind(input) as SQLInputValue[]);
  }

  /**
   * All rows. `.get()` and `.run()` must not be used for statements that return rows: they leave the statement open with
   * unread rows, and an open statement holds a snapshot that no checkpoint of the write-ahead log can pass.
   */
  all(text: string, values: readonly SQLInputValue[] = []): readonly ColumnValues[] {
    try {
      return this.rows(text, values);
    } catch (error) {
      throw translateError(error);
    }
  }

  /** All rows, with untranslated errors. */
  rows(text: string, values: readonly SQLInputValue[]): readonly ColumnValues[] {
    // With setReturnArrays every row is an array.
    return this.#prepare(text).all(...values) as unknown as ColumnValues[];
  }

  /** The rows one by one, with untranslated errors. Until the last one is read, the statement holds a snapshot. */
  iterate(text: string, values: readonly SQLInputValue[]): Iterator<ColumnValues> {
    // With setReturnArrays every row is an array.
    return this.#prepare(text).iterate(...values) as unknown as Iterator<ColumnValues>;
  }

  /**
   * The first rows of a statement, read one by one until the texts of their first column would exceed `maxBytes`. The row
   * that would exceed it is the last one, with null for its text.
   */
  firstRows(text: string, values: readonly SQLInputValue[], maxBytes: number): readonly ColumnValues[] {
    const complete: ColumnValues[] = [];
    const rows = this.iterate(text, values);
    let bytes = 0;
    try {
      for (let row = rows.next(); !row.done; row = rows.next()) {
        bytes += Buffer.byteLength(row.value[0] as string) + rowSeparator.length;
        if (bytes > maxBytes) return [...complete, withoutText(row.value)];
        complete.push(row.value);
      }
      return complete;
    } catch (error) {
      if (!isSqliteError(error) || (error.errcode & 0xff) !== tooBig) throw error;
      return [...complete, withoutText(complete.at(-1) ?? [])];
    } finally {
      // Also after an error: otherwise the statement would fail with it again at its next use.
      rows.return?.();
    }
  }

  #prepare(text: string): StatementSync {
    const cached = this.#prepared.get(text);
    if (cached) return cached;
    // Loads a schema that another process has changed. Otherwise SQLite would notice the change only when it connects the
    // search table of a trigger, and would not find the tables of the trigger after it.
    this.native.exec("select 1 from sqlite_schema limit 0");
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
/** SQLite implements `on delete restrict` as a trigger. */
const constraintTrigger = 1811;

/** Extended result codes of SQLite (sqlite.org/rescode.html) as errors of the store. */
export function translateError(error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  if (error.errcode === constraintForeignKey || error.errcode === constraintTrigger)
    return new ConstraintError("reference", [], error);
  if (error.errcode === constraintUnique || error.errcode === constraintPrimaryKey) {
    // "UNIQUE constraint failed: users.tenant_no, users.email"
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
 * Result codes that are not the caller's fault: busy, locked, out of memory, read-only, interrupted, input/output,
 * corrupt, full, cannot open, not a database.
 */
const unavailableCodes = new Set([5, 6, 7, 8, 9, 10, 11, 13, 14, 26]);

/** Whether a statement failed because another connection holds a lock (SQLITE_BUSY, SQLITE_LOCKED). */
export function isBusy(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  return isSqliteError(cause) && busyCodes.has(cause.errcode & 0xff);
}

/** Whether a statement failed because of a constraint that is neither unique nor a reference (SQLITE_CONSTRAINT). */
export function isConstraintFailure(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === constraint;
}

const constraint = 19;

const busyCodes = new Set([5, 6]);

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}
