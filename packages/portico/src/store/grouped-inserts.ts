// Inserts rows outside transactions, on PostgreSQL. Rows that requests of a tenant add to one resource at the same time
// are inserted by one statement.

import { isUnavailable } from "../errors.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Insert, Recorded } from "../query/write.ts";
import type { CommitSignal } from "./commit-signal.ts";
import { compileInsertMany, type InsertManyStatement } from "./compile/insert-many.ts";
import { compileInsert, compileRecordedInsert, type EventInsertion, type Stored } from "./compile/write.ts";
import type { Database, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { Shapes } from "./shapes.ts";
import { WriteGroups } from "./write-groups.ts";

/** Groups that are remembered; another one may be made while one of these still runs. */
const maxGroups = 1_000;

type StoredInsert = Stored<Recorded<Insert>>;

/** A row that waits to be inserted. */
interface WaitingInsert {
  readonly insert: StoredInsert;
  /** The row and its event as one text. */
  readonly text: string;
}

interface Statements {
  readonly one: Statement<StoredInsert>;
  readonly many: InsertManyStatement;
}

export class GroupedInserts {
  readonly #dialect: Dialect;
  readonly #database: Database;
  readonly #commits: CommitSignal;
  readonly #statements = new Shapes<Statements>();
  /** By resource and tenant. */
  readonly #groups = new BoundedMap<string, WriteGroups<WaitingInsert, string>>(maxGroups);

  constructor(dialect: Dialect, database: Database, commits: CommitSignal) {
    this.#dialect = dialect;
    this.#database = database;
    this.#commits = commits;
  }

  /**
   * Inserts a row, with its event, and returns its JSON text.
   *
   * @param eventInsertion undefined if the resource records no events
   */
  async insert(insert: StoredInsert, eventInsertion: EventInsertion | undefined): Promise<string> {
    const { resource, tenantId } = insert;
    const statements = this.#statementsOf(resource, eventInsertion);
    const key = `${resource.table} ${tenantId}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = this.#groupOf(statements, tenantId);
      this.#groups.set(key, group);
    }
    if (eventInsertion) this.#commits.recorded();
    return group.run({ insert, text: statements.many.textOf(insert) });
  }

  #statementsOf(resource: ResourceModel, eventInsertion: EventInsertion | undefined): Statements {
    return this.#statements.get(resource, "", () => ({
      one: eventInsertion
        ? compileRecordedInsert(this.#dialect, resource, eventInsertion)
        : compileInsert(this.#dialect, resource),
      many: compileInsertMany(this.#dialect, resource, eventInsertion),
    }));
  }

  #groupOf({ one, many }: Statements, tenantId: string): WriteGroups<WaitingInsert, string> {
    return new WriteGroups({
      together: async (rows) => {
        const texts = await (rows.length === 1 ? this.#tryOne(one, rows[0]!) : this.#tryMany(many, rows));
        if (texts) this.#commits.committed();
        return texts;
      },
      alone: async ({ insert }) => {
        const [row] = await this.#database.execute(one, insert, { tenantId });
        this.#commits.committed();
        return row![0] as string;
      },
      lengthOf: ({ text }) => text.length,
    });
  }

  async #tryOne(
    statement: Statement<StoredInsert>,
    { insert }: WaitingInsert,
  ): Promise<readonly string[] | undefined> {
    const rows = await this.#database.tryToExecute!(statement, insert);
    return rows?.map(([text]) => text as string);
  }

  async #tryMany(
    { statement }: InsertManyStatement,
    rows: readonly WaitingInsert[],
  ): Promise<readonly string[] | undefined> {
    const { tenantNo } = rows[0]!.insert;
    try {
      const inserted = await this.#database.tryToExecute!(statement, {
        tenantNo,
        rows: rows.map(({ text }) => text),
      });
      if (!inserted) return undefined;
      const texts = new Map(inserted.map(([id, text]) => [id as string, text as string]));
      return rows.map(({ insert }) => texts.get(insert.values.id as string)!);
    } catch (error) {
      // One of the rows violates a constraint, or has a value that the database refuses.
      if (!isUnavailable(error)) return undefined;
      throw error;
    }
  }
}
