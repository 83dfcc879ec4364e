// SQLite: one connection reads, one writes. Reads answer at once; writes wait for the end of the tick and are
// committed together by `writer.ts`.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { OperatorError, Problem } from "../../errors.ts";
import { BoundedMap } from "../bounded-map.ts";
import {
  type ColumnValues,
  ConstraintError,
  type Database,
  type Session,
  type Statement,
} from "../database.ts";
import { GroupedWriter } from "./writer.ts";

/** Prepared statements kept for each connection; a statement is a few kilobytes. */
const mostPrepared = 500;

/** A connection whose statements are prepared once. */
export class SqliteConnection implements Session {
  readonly native: DatabaseSync;
  readonly #prepared = new BoundedMap<string, StatementSync>(mostPrepared);

  constructor(file: string, busyTimeoutMs: number) {
    this.native = new DatabaseSync(file, { timeout: busyTimeoutMs });
    this.native.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.all(statement.sql, statement.bind(input) as SQLInputValue[]);
  }

  /**
   * All rows. Never `.get()` or `.run()` for statements that answer with rows: they leave the statement open,
   * and an open statement keeps the write-ahead log from being cut.
   */
  all(text: string, values: readonly SQLInputValue[] = []): readonly ColumnValues[] {
    try {
      // With setReturnArrays every row is an array.
      return this.#prepare(text).all(...values) as unknown as ColumnValues[];
    } catch (error) {
      throw translated(error);
    }
  }

  #prepare(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known) return known;
    const made = this.native.prepare(text);
    made.setReturnArrays(true);
    this.#prepared.set(text, made);
    return made;
  }
}

export class SqliteDatabase implements Database {
  readonly isRemote = false;
  readonly #reader: SqliteConnection;
  readonly #writer: GroupedWriter;

  /** @param file path of the database; it and its folder are made where they are missing */
  constructor(file: string) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      this.#writer = new GroupedWriter(new SqliteConnection(file, 0));
      this.#reader = new SqliteConnection(file, 1_000);
    } catch (error) {
      throw new OperatorError(`the database file ${file} cannot be opened: ${messageOf(error)}`);
    }
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.#reader.query(statement, input);
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#writer.write(work);
  }

  async run(text: string): Promise<void> {
    await this.#writer.alone((connection) => connection.native.exec(text));
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#reader.native.close();
  }
}

const constraintUnique = 2067;
const constraintPrimaryKey = 1555;
const constraintForeignKey = 787;
/** `on delete restrict` works as a trigger. */
const constraintTrigger = 1811;

/** Extended result codes of SQLite (sqlite.org/rescode.html) as errors of the store. */
function translated(error: unknown): unknown {
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
  const code = error.errcode & 0xff;
  return unavailableCodes.has(code) ? new Problem("unavailable", undefined, [], {}, error) : error;
}

/** busy, locked, read-only, input/output, corrupt, full, cannot open: nothing that a caller could change. */
const unavailableCodes = new Set([5, 6, 8, 10, 11, 13, 14]);

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
