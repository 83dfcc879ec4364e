// Writes rows. Each write compiles its statement once for each shape and returns the row as JSON text.

import type { Attribute, ResourceModel } from "../model/model.ts";
import type { Delete, EventAction, Insert, Recorded, RowValues, Update } from "../query/write.ts";
import type { CommitSignal } from "./commit-signal.ts";
import { rowsWithin } from "./compile/declared-size.ts";
import {
  compileDelete,
  compileDeleteMany,
  compileInsert,
  compileRecordedDelete,
  compileRecordedInsert,
  compileRecordedUpdate,
  compileUpdate,
  compileUpdateMany,
  type DeleteMany,
  type EventInsertion,
  type Stored,
  type UpdateMany,
} from "./compile/write.ts";
import type { ColumnValues, Database, Session, Statement, Transaction } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { GroupedInserts } from "./grouped-inserts.ts";
import { Shapes } from "./shapes.ts";
import type { Tenants } from "./tenants.ts";

/** Bytes of the texts of rows that are written together. */
const maxTogetherBytes = 8 * 1024 * 1024;

/** How a write that records its event runs. */
export interface RunRecorded {
  readonly session: Transaction;
  readonly eventInsertion: EventInsertion;
  /** Whether it is the last statement of the transaction. */
  readonly isLast: boolean;
}

export class RowWrites {
  readonly #dialect: Dialect;
  readonly #database: Database;
  readonly #tenants: Tenants;
  readonly #commits: CommitSignal;
  readonly #grouped: GroupedInserts;
  readonly #updates = new Shapes<Statement<Stored<Update>>>();
  readonly #inserts = new Shapes<Statement<Stored<Insert>>>();
  readonly #recordedInserts = new Shapes<Statement<Stored<Recorded<Insert>>>>();
  readonly #recordedUpdates = new Shapes<Statement<Stored<Recorded<Update>>>>();
  readonly #recordedDeletes = new Shapes<Statement<Stored<Recorded<Delete>>>>();
  readonly #deletes = new Shapes<Statement<Stored<Delete>>>();
  readonly #updatesOfMany = new Shapes<Statement<Stored<UpdateMany>>>();
  readonly #deletesOfMany = new Shapes<Statement<Stored<DeleteMany>>>();

  constructor(dialect: Dialect, database: Database, tenants: Tenants, commits: CommitSignal) {
    this.#dialect = dialect;
    this.#database = database;
    this.#tenants = tenants;
    this.#commits = commits;
    this.#grouped = new GroupedInserts(dialect, database, commits);
  }

  /** Inserts a row and returns its JSON text. */
  async insert(session: Session, insert: Insert): Promise<string> {
    const statement = this.#insertOf(insert.resource);
    const [row] = await session.query(statement, await this.#stored(session, insert));
    return row![0] as string;
  }

  /**
   * Inserts a row outside a transaction and returns its JSON text. PostgreSQL only.
   *
   * @param eventInsertion inserts the event in the same statement; undefined if the resource records no events
   */
  async insertWithSingleStatement(
    insert: Recorded<Insert>,
    eventInsertion: EventInsertion | undefined,
  ): Promise<string> {
    return this.#grouped.insert(await this.#stored(this.#database, insert), eventInsertion);
  }

  /** Inserts a row with its event and returns its JSON text. PostgreSQL only. */
  async insertRecorded(run: RunRecorded, insert: Recorded<Insert>): Promise<string> {
    const statement = this.#recordedInsertOf(insert.resource, run.eventInsertion);
    const [row] = await this.#runRecorded(run, statement, insert);
    return row![0] as string;
  }

  /** Updates a locked row with its event and returns its JSON text. PostgreSQL only. */
  async updateRecorded(
    run: RunRecorded,
    update: Recorded<Update>,
    action: EventAction,
  ): Promise<string | undefined> {
    const { resource } = update;
    const changed = changedAttributes(resource, update.values);
    const shape = [action, ...changed.map(({ name }) => name)].join();
    const statement = this.#recordedUpdates.get(resource, shape, () =>
      compileRecordedUpdate(this.#dialect, resource, changed, action, run.eventInsertion),
    );
    const [row] = await this.#runRecorded(run, statement, update);
    return row?.[0] as string | undefined;
  }

  /** Deletes a locked row, records the event, and returns its last JSON text. PostgreSQL only. */
  async deleteRecorded(run: RunRecorded, deletion: Recorded<Delete>): Promise<string | undefined> {
    const { resource } = deletion;
    const statement = this.#recordedDeletes.get(resource, "", () =>
      compileRecordedDelete(this.#dialect, resource, run.eventInsertion),
    );
    const [row] = await this.#runRecorded(run, statement, deletion);
    return row?.[0] as string | undefined;
  }

  async #runRecorded<Write extends { readonly tenantId: string }>(
    { session, isLast }: RunRecorded,
    statement: Statement<Stored<Write>>,
    write: Write,
  ): Promise<readonly ColumnValues[]> {
    this.#commits.recorded();
    const stored = await this.#stored(session, write);
    return isLast ? session.queryLast(statement, stored) : session.query(statement, stored);
  }

  #insertOf(resource: ResourceModel): Statement<Stored<Insert>> {
    return this.#inserts.get(resource, "", () => compileInsert(this.#dialect, resource));
  }

  #recordedInsertOf(
    resource: ResourceModel,
    eventInsertion: EventInsertion,
  ): Statement<Stored<Recorded<Insert>>> {
    return this.#recordedInserts.get(resource, "", () =>
      compileRecordedInsert(this.#dialect, resource, eventInsertion),
    );
  }

  /** Updates a row and returns its JSON text, or undefined if it does not exist. */
  async update(session: Session, update: Update): Promise<string | undefined> {
    const changed = changedAttributes(update.resource, update.values);
    const shape = changed.map(({ name }) => name).join();
    const statement = this.#updates.get(update.resource, shape, () =>
      compileUpdate(this.#dialect, update.resource, changed),
    );
    const [row] = await session.query(statement, await this.#stored(session, update));
    return row?.[0] as string | undefined;
  }

  /** Deletes a row and returns its last JSON text, or undefined if it did not exist. */
  async delete(session: Session, deletion: Delete): Promise<string | undefined> {
    const { resource } = deletion;
    const statement = this.#deletes.get(resource, "", () => compileDelete(this.#dialect, resource));
    const [row] = await session.query(statement, await this.#stored(session, deletion));
    return row?.[0] as string | undefined;
  }

  /**
   * Updates several rows with the same values and returns their JSON texts by id, in the order of the ids.
   *
   * @param update changes no searched attribute
   */
  async updateMany(session: Session, update: UpdateMany): Promise<ReadonlyMap<string, string>> {
    const { resource, values, ids } = update;
    const changed = changedAttributes(resource, values);
    const shape = changed.map(({ name }) => name).join();
    const statement = this.#updatesOfMany.get(resource, shape, () =>
      compileUpdateMany(this.#dialect, resource, changed),
    );
    return textsInOrder(ids, await session.query(statement, await this.#stored(session, update)));
  }

  /** How many rows of a resource can be written together without holding long texts in memory. */
  maxTogether(resource: ResourceModel): number {
    return rowsWithin(maxTogetherBytes, resource);
  }

  /**
   * Deletes several rows and returns their last JSON texts by id, in the order of the ids. SQLite deletes one after
   * another: it checks references after each row, and has no round trips to save.
   */
  async deleteMany(session: Session, deletion: DeleteMany): Promise<ReadonlyMap<string, string>> {
    const { resource, tenantId, ids } = deletion;
    const texts = new Map<string, string>();
    if (!this.#database.isRemote) {
      for (const id of ids) {
        const text = await this.delete(session, { resource, tenantId, id });
        if (text !== undefined) texts.set(id, text);
      }
      return texts;
    }
    const statement = this.#deletesOfMany.get(resource, "", () => compileDeleteMany(this.#dialect, resource));
    return textsInOrder(ids, await session.query(statement, await this.#stored(session, deletion)));
  }

  #stored<Write extends { readonly tenantId: string }>(
    session: Session,
    write: Write,
  ): Stored<Write> | Promise<Stored<Write>> {
    const tenantNo = this.#tenants.numberOf(write.tenantId);
    if (tenantNo !== undefined) return { ...write, tenantNo };
    return this.#tenants.findNumber(session, write.tenantId).then((found) => ({ ...write, tenantNo: found }));
  }
}

/** The texts of rows by id, in the order of some ids. @param rows the id and the text of each */
export function textsInOrder(
  ids: readonly string[],
  rows: readonly ColumnValues[],
): ReadonlyMap<string, string> {
  const texts = new Map(rows.map(([id, text]) => [id as string, text as string]));
  return new Map(ids.flatMap((id) => (texts.has(id) ? [[id, texts.get(id)!]] : [])));
}

function changedAttributes(resource: ResourceModel, values: RowValues): Attribute[] {
  return resource.attributes.filter(({ name }) => Object.hasOwn(values, name));
}
