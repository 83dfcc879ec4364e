// Defers the indexing of rows that a transaction inserts (`store/search/deferral.ts`).

import type { ColumnValues, Statement } from "../database.ts";
import { deferralTable } from "../schema/table.ts";
import { deferTriggers, indexRows, resumeTriggers } from "../search/deferral.ts";
import type { SqliteConnection } from "./connection.ts";

/** Statements that neither read a search index nor insert rows that a trigger indexes. */
const isIndependent = /^\s*(insert into "events"|(select|with)(?!.*_search"))/is;

export class DeferredIndexing {
  readonly #connection: SqliteConnection;
  readonly #independent = new WeakMap<object, boolean>();
  readonly #statements = new Map<string, string>();
  /** The numbers of the rows to index, by table. */
  readonly #rows = new Map<string, unknown[]>();
  #isDeferring = false;
  #isPossible = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /**
   * Runs a statement of a transaction.
   * @param mayDefer whether to defer the indexing of a row that it inserts
   */
  read<Input>(statement: Statement<Input>, input: Input, mayDefer: boolean): readonly ColumnValues[] {
    const { searchedTable } = statement;
    if (searchedTable !== undefined && mayDefer && this.#defer()) {
      const inserted = this.#connection.read(statement, input);
      const numbers = this.#rows.get(searchedTable) ?? [];
      for (const [, number] of inserted) numbers.push(number);
      this.#rows.set(searchedTable, numbers);
      return inserted;
    }
    if (this.#isDeferring && !this.#isIndependent(statement)) this.indexRows();
    return this.#connection.read(statement, input);
  }

  /** Indexes the inserted rows: before the end of the transaction, and before a savepoint, which may undo that. */
  indexRows(): void {
    if (!this.#isDeferring) return;
    for (const [table, numbers] of this.#rows) {
      const text = this.#statements.get(table) ?? indexRows(table);
      this.#statements.set(table, text);
      this.#connection.all(text, [JSON.stringify(numbers)]);
    }
    this.#connection.all(resumeTriggers);
    this.forget();
  }

  /** Forgets the rows, because a rollback has undone their inserts. */
  forget(): void {
    this.#rows.clear();
    this.#isDeferring = false;
  }

  /** @returns false for a database that an earlier version has migrated */
  #defer(): boolean {
    if (this.#isDeferring) return true;
    this.#isPossible ||=
      this.#connection.all("select 1 from sqlite_schema where name = ?", [deferralTable]).length > 0;
    if (this.#isPossible) this.#connection.all(deferTriggers);
    this.#isDeferring = this.#isPossible;
    return this.#isDeferring;
  }

  #isIndependent(statement: Statement<never>): boolean {
    const known = this.#independent.get(statement);
    if (known !== undefined) return known;
    const found = isIndependent.test(statement.sql);
    this.#independent.set(statement, found);
    return found;
  }
}
