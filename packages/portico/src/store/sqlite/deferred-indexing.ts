// Defers the indexing of rows that a transaction inserts (`store/search/deferral.ts`).

import type { ColumnValues, Statement } from "../database.ts";
import { deferralTable } from "../schema/table.ts";
import { deferTrigger, indexRows, newestRow, resumeTriggers } from "../search/deferral.ts";
import type { SqliteConnection } from "./connection.ts";

/** Inserts after which the rows are indexed: other requests wait for the statement that does it. */
const maxInserts = 500;

/** Statements that neither read a search index nor write rows of a searched table. */
const independent =
  /^\s*(insert into "events"|(select|with)(?!.*(_search"|\b(insert|update|delete|replace)\b.*\b(into|set|from)\b)))/is;

interface SearchedTable {
  readonly newestRow: string;
  readonly indexRows: string;
}

export class DeferredIndexing {
  readonly #connection: SqliteConnection;
  readonly #independent = new WeakMap<object, boolean>();
  readonly #statements = new Map<string, SearchedTable>();
  /** The tables whose triggers are deferred, and their newest row before. */
  readonly #deferred = new Map<string, unknown>();
  #inserts = 0;
  #isPossible: boolean | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /**
   * Runs a statement of a transaction.
   * @param mayDefer whether to defer the indexing of a row that it inserts
   */
  read<Input>(statement: Statement<Input>, input: Input, mayDefer: boolean): readonly ColumnValues[] {
    const { searchedTable } = statement;
    if (searchedTable !== undefined && mayDefer && this.#defer(searchedTable)) {
      const inserted = this.#connection.read(statement, input);
      this.#inserts += 1;
      if (this.#inserts >= maxInserts) this.indexRows();
      return inserted;
    }
    if (this.#deferred.size > 0 && !this.#isIndependent(statement)) this.indexRows();
    return this.#connection.read(statement, input);
  }

  /**
   * Indexes the inserted rows: before the end of the transaction, before a savepoint, which may undo it, and before a
   * statement that depends on them.
   */
  indexRows(): void {
    if (this.#deferred.size === 0) return;
    try {
      for (const [table, newest] of this.#deferred)
        this.#connection.all(this.#statementsOf(table).indexRows, [newest as number]);
    } catch (error) {
      // From now on only writes fail that insert such a row, and not those of their groups.
      this.#isPossible = false;
      throw error;
    }
    this.#connection.all(resumeTriggers);
    this.forget();
  }

  /** Forgets the deferred triggers, because a rollback has undone the inserts and resumed the triggers. */
  forget(): void {
    this.#deferred.clear();
    this.#inserts = 0;
  }

  #defer(table: string): boolean {
    if (this.#deferred.has(table)) return true;
    // A fault may have rolled the transaction back; then the deferral would stay.
    if (!this.#connection.native.isTransaction || !this.#canDefer()) return false;
    const [[newest]] = this.#connection.all(this.#statementsOf(table).newestRow) as [[unknown]];
    this.#connection.all(deferTrigger, [table]);
    this.#deferred.set(table, newest);
    return true;
  }

  /** Not in a database that an earlier version has migrated. */
  #canDefer(): boolean {
    if (this.#isPossible !== undefined) return this.#isPossible;
    const found = this.#connection.all("select 1 from sqlite_schema where name = ?", [deferralTable]);
    if (found.length > 0) this.#isPossible = true;
    return found.length > 0;
  }

  #statementsOf(table: string): SearchedTable {
    const known = this.#statements.get(table);
    if (known) return known;
    const statements = { newestRow: newestRow(table), indexRows: indexRows(table) };
    this.#statements.set(table, statements);
    return statements;
  }

  #isIndependent(statement: Statement<never>): boolean {
    const known = this.#independent.get(statement);
    if (known !== undefined) return known;
    const found = independent.test(statement.sql);
    this.#independent.set(statement, found);
    return found;
  }
}
