// The store runs plans and returns JSON text. It compiles each shape of a plan once and caches the statement. One class has
// a method for each plan, so the file is longer than most.

import { Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import { AnswerTooLarge, maxAnswerBytes } from "../query/answer-size.ts";
import { type CollectionCondition, conditionShape } from "../query/condition.ts";
import type { StoredPage } from "../query/page.ts";
import type { Read, ReadOne } from "../query/read.ts";
import {
  type BoundedRead,
  boundedGet,
  boundedList,
  isWholeRow,
  type RunRead,
  readBounded,
} from "./bounded-read.ts";
import { CommitSignal } from "./commit-signal.ts";
import { compileCount, type MatchingRows } from "./compile/count.ts";
import {
  compileFilterIds,
  compileFilterReferred,
  compileGet,
  compileLockMany,
  type ReadMany,
  type RowsById,
} from "./compile/get.ts";
import type { ReadInput } from "./compile/input.ts";
import { type ListColumns, listShape } from "./compile/list.ts";
import type { SearchAccess } from "./compile/search-access.ts";
import { compileStream } from "./compile/stream.ts";
import type {
  ColumnValues,
  Database,
  Session,
  Statement,
  Transaction,
  TransactionOptions,
} from "./database.ts";
import { DeletedRows } from "./deleted-rows.ts";
import type { Dialect, Lock } from "./dialect.ts";
import { LinkedRows } from "./linked-rows.ts";
import { NarrowedReads } from "./narrowed-read.ts";
import { isWholePage, pageOf } from "./page.ts";
import type { RowStream, StreamOptions, StreamStatements } from "./row-stream.ts";
import { RowWrites, textsInOrder } from "./row-writes.ts";
import { BoundedSearch } from "./search/bounded-search.ts";
import { Shapes } from "./shapes.ts";
import { compile } from "./statement.ts";
import { Tenants } from "./tenants.ts";

export class Store {
  readonly dialect: Dialect;
  readonly database: Database;
  readonly tenants: Tenants;
  readonly commits = new CommitSignal();
  readonly writes: RowWrites;
  readonly deletedRows: DeletedRows;
  readonly linked: LinkedRows;
  readonly #runRead: RunRead;
  readonly #search: BoundedSearch;
  readonly #narrowed: NarrowedReads;
  readonly #streams = new Shapes<StreamStatements<ReadInput<Read>>>();
  readonly #lists = new Shapes<BoundedRead<Read>>();
  readonly #gets = new Shapes<BoundedRead<ReadOne>>();
  readonly #lockingGets = new Shapes<Statement<ReadInput<ReadOne>>>();
  readonly #lockingGetsOfMany = new Shapes<Statement<ReadInput<ReadMany>>>();
  readonly #filters = new Shapes<Statement<ReadInput<RowsById>>>();
  readonly #counts = new Shapes<Statement<ReadInput<MatchingRows>>>();

  /** @param runRead runs the statements of a read; `portico explain` records them instead */
  constructor(dialect: Dialect, database: Database, runRead: RunRead = readBounded) {
    this.dialect = dialect;
    this.database = database;
    this.tenants = new Tenants(dialect, database);
    this.linked = new LinkedRows(dialect, this.tenants);
    this.writes = new RowWrites(dialect, database, this.tenants, this.commits);
    this.deletedRows = new DeletedRows(dialect, this.tenants);
    this.#runRead = runRead;
    this.#search = new BoundedSearch(dialect, database);
    this.#narrowed = new NarrowedReads(dialect, database);
  }

  /**
   * A page of a tenant's rows. A page that would be too large ends early.
   *
   * @throws AnswerTooLarge if its first row is too large, or a page of its style cannot end early
   */
  async list(tenantId: string, read: Read, session: Session = this.database): Promise<StoredPage> {
    const input = await this.#inputOf(session, tenantId, read);
    if (session === this.database && this.#narrowed.mayNarrow(read))
      return this.#narrowed.list(input, (narrowed, access) => this.#listColumns(narrowed, session, access));
    // A numbered page counts all matches.
    if (read.words.length === 0 || read.page.style === "page" || session !== this.database)
      return pageOf(read, await this.#listColumns(input, session));
    const columns = await this.#search.list(input, (access, search) =>
      this.#listColumns({ ...input, search }, session, access),
    );
    return pageOf(read, columns);
  }

  async #listColumns(input: ReadInput<Read>, session: Session, access?: SearchAccess): Promise<ListColumns> {
    const { read } = input;
    const statements = this.#lists.get(read.resource, listShape(this.dialect, read, access), () =>
      boundedList(this.dialect, read, access),
    );
    const rows = await this.#read(statements, input, session, ([columns]) =>
      isWholePage(read, columns as unknown as ListColumns),
    );
    // The statements have these columns.
    return rows[0] as unknown as ListColumns;
  }

  /** The rows of a page of any size, one after another. */
  async stream(tenantId: string, read: Read, options: StreamOptions): Promise<RowStream> {
    const { isCounted } = options;
    const input = await this.#inputOf(this.database, tenantId, read);
    const shape = `${listShape(this.dialect, read)}|${isCounted}`;
    const statements = this.#streams.get(read.resource, shape, () =>
      compileStream(this.dialect, read, isCounted),
    );
    return this.database.stream(statements, input, options);
  }

  /**
   * A row as JSON text, or undefined if the tenant has no row with this id that meets the conditions.
   *
   * @throws AnswerTooLarge
   */
  async get(tenantId: string, read: ReadOne, session: Session = this.database): Promise<string | undefined> {
    const input = await this.#inputOf(session, tenantId, read);
    const [row] = await this.#read(this.#getOf(read), input, session, isWholeRow);
    if (row?.[0] === null) throw new AnswerTooLarge();
    return row?.[0] as string | undefined;
  }

  /**
   * `get` within a transaction, for a response: with the rows that the selection nests. It holds up other writes, so it
   * must not be slow.
   *
   * @throws AnswerTooLarge
   * @throws Problem `validation_error` if it may read many rows
   */
  async getWithin(transaction: Transaction, tenantId: string, read: ReadOne): Promise<string | undefined> {
    const { quick, plain } = this.#getOf(read);
    if (!quick || plain.mayScan) throw slowReadInTransaction();
    const input = await this.#inputOf(transaction, tenantId, read);
    const [row] = await transaction.query(quick, { ...input, maxBytes: maxAnswerBytes });
    if (row?.[0] === null) throw new AnswerTooLarge();
    return row?.[0] as string | undefined;
  }

  /** Adds the number of the tenant, without waiting if it is known: reads that arrive together share a snapshot. */
  #inputOf<Plan>(session: Session, tenantId: string, read: Plan): ReadInput<Plan> | Promise<ReadInput<Plan>> {
    const tenantNo = this.tenants.numberOf(tenantId);
    if (tenantNo !== undefined) return { tenantId, tenantNo, read };
    return this.tenants.findNumber(session, tenantId).then((found) => ({ tenantId, tenantNo: found, read }));
  }

  #getOf(read: ReadOne): BoundedRead<ReadOne> {
    const { resource, selection, conditions } = read;
    // `|` occurs in a key only inside brackets, so this shape is unambiguous.
    const shape = conditions.length === 0 ? selection.key : `${selection.key}|${conditionShape(conditions)}`;
    return this.#gets.get(resource, shape, () => boundedGet(this.dialect, read));
  }

  /** Reads within a transaction are not bounded: they read single rows and ids. */
  #read<Plan>(
    statements: BoundedRead<Plan>,
    input: ReadInput<Plan>,
    session: Session,
    isWhole: (rows: readonly ColumnValues[]) => boolean,
  ): Promise<readonly ColumnValues[]> {
    if (session !== this.database) return session.query(statements.plain, input);
    return this.#runRead(statements, input, session, isWhole);
  }

  /** `get` within a transaction that will write the row: locks it until the transaction ends. */
  async getLocked(
    tenantId: string,
    read: ReadOne,
    session: Session,
    lock: Lock,
  ): Promise<string | undefined> {
    const { resource, selection, conditions } = read;
    const shape = `${selection.key}|${conditionShape(conditions)}|${lock}`;
    const statement = this.#lockingGets.get(resource, shape, () => compileGet(this.dialect, read, lock));
    const [row] = await session.query(statement, await this.#inputOf(session, tenantId, read));
    return row?.[0] as string | undefined;
  }

  /** `getLocked` for several rows: their texts by id, in the order of the ids. */
  async getManyLocked(
    tenantId: string,
    read: ReadMany,
    session: Session,
    lock: Lock,
  ): Promise<ReadonlyMap<string, string>> {
    const { resource, selection, conditions, ids } = read;
    const shape = `${selection.key}|${conditionShape(conditions)}|${lock}`;
    const statement = this.#lockingGetsOfMany.get(resource, shape, () =>
      compileLockMany(this.dialect, read, lock),
    );
    return textsInOrder(ids, await session.query(statement, await this.#inputOf(session, tenantId, read)));
  }

  /** The number of a tenant's rows that meet the conditions. */
  async count(
    tenantId: string,
    resource: ResourceModel,
    read: MatchingRows,
    session: Session,
  ): Promise<number> {
    const statement = this.#counts.get(resource, conditionShape(read.conditions), () =>
      compileCount(this.dialect, resource, read.conditions),
    );
    const [row] = await session.query(statement, await this.#inputOf(session, tenantId, read));
    return Number(row![0]);
  }

  /**
   * Filters ids: returns those whose rows meet the conditions.
   * @param lock within a transaction that will write the rows: locks them until it ends
   */
  async filterIds(
    tenantId: string,
    resource: ResourceModel,
    read: RowsById,
    session: Session = this.database,
    lock?: Lock,
  ): Promise<ReadonlySet<string>> {
    const { ids, conditions } = read;
    if (ids.length === 0) return new Set();
    const statement = this.#filters.get(resource, `${lock ?? ""}|${conditionShape(conditions)}`, () =>
      compileFilterIds(this.dialect, resource, conditions, lock),
    );
    const rows = await session.query(statement, await this.#inputOf(session, tenantId, read));
    return new Set(rows.map(([id]) => id as string));
  }

  /** Filters ids: returns those to which a row refers that meets the conditions. */
  async filterReferred(
    tenantId: string,
    { resource, attribute }: Pick<CollectionCondition, "resource" | "attribute">,
    read: RowsById,
    session: Session = this.database,
  ): Promise<ReadonlySet<string>> {
    const { ids, conditions } = read;
    if (ids.length === 0) return new Set();
    const shape = `${attribute.name}|${conditionShape(conditions)}`;
    const statement = this.#filters.get(resource, shape, () =>
      compileFilterReferred(this.dialect, resource, attribute, conditions),
    );
    const rows = await session.query(statement, await this.#inputOf(session, tenantId, read));
    return new Set(rows.map(([id]) => id as string));
  }

  /** Keeps other transactions from writing to a table until that of `session` ends. SQLite has one writer anyway. */
  async lockTable(session: Session, table: string): Promise<void> {
    const { builder, lockTable } = this.dialect;
    const lock = lockTable(table);
    if (lock) await session.query(compile(builder, lock), undefined);
  }

  /** Runs `work` in a transaction. When its result is returned, the transaction is on disk. */
  async transaction<T>(work: (session: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const result = await this.database.transaction(work, options);
    this.commits.committed();
    return result;
  }
}

function slowReadInTransaction(): Problem {
  const message =
    "The selection may read too many rows for a transaction, as of several mutations or an Idempotency-Key. Select fewer nested rows and no lists with conditions, or read them afterwards.";
  return new Problem("validation_error", message, [{ field: "", issue: "max" }]);
}
