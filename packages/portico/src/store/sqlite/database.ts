// SQLite: one connection reads, one writes. Reads return synchronously, except slow and large ones, which run in worker
// threads. Writes are queued until the end of the tick and committed together (`group-commit.ts`).

import { dirname } from "node:path";
import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Report } from "../../lib/report.ts";
import { AnswerTooLarge, maxAnswerBytes, quickAnswerBytes } from "../../query/answer-size.ts";
import type {
  ColumnValues,
  Database,
  Maintenance,
  Statement,
  StoreOptions,
  Transaction,
  TransactionOptions,
} from "../database.ts";
import type { RowStream, StreamOptions, StreamStatements } from "../row-stream.ts";
import type { CountRefused } from "../slow-read-queue.ts";
import { maxValueBytes, SqliteConnection } from "./connection.ts";
import { createFile, DatabaseFile } from "./database-file.ts";
import { Faults } from "./faults.ts";
import { createFolder } from "./folder.ts";
import { GroupCommitWriter } from "./group-commit.ts";
import { ReadTransaction } from "./read-transaction.ts";
import { ReadWorkers } from "./read-workers.ts";
import { SqliteRowStream } from "./row-stream.ts";

export class SqliteDatabase implements Database {
  readonly isRemote = false;
  readonly #reader: SqliteConnection;
  readonly #readTransaction: ReadTransaction;
  readonly #writer: GroupCommitWriter;
  readonly #readWorkers: ReadWorkers;
  readonly #path: string;
  readonly #file: DatabaseFile;
  readonly #streams = new Set<SqliteRowStream>();
  #faults: Faults | undefined;
  #countRefused: CountRefused = () => {};

  /** @param file path of the database; it and its folder are created if they do not exist */
  constructor(file: string, { slowReadMs }: StoreOptions) {
    this.#path = file;
    try {
      createFolder(dirname(file));
      // Only the owner may read email addresses and hashes. SQLite gives the log and its index the same permissions.
      createFile(file);
      this.#file = new DatabaseFile(file);
      this.#writer = new GroupCommitWriter(new SqliteConnection(file, 0), this.#file, () =>
        this.#readTransaction.closeUntilNextTick(),
      );
      this.#reader = new SqliteConnection(file, 1_000, quickAnswerBytes);
      this.#readTransaction = new ReadTransaction(this.#reader);
    } catch (error) {
      throw new OperatorError(`the database file ${file} cannot be opened: ${errorMessage(error)}`);
    }
    this.#readWorkers = new ReadWorkers(file, slowReadMs, (what) => this.#countRefused(what));
  }

  async query<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    this.#faults?.requireFile();
    try {
      if (statement.mayScan) return await this.#readSlowly(statement, input);
      this.#readTransaction.open();
      return this.#reader.read(statement, input);
    } catch (error) {
      if (statement.mayScan || statement.failsIfLarge || !(error instanceof AnswerTooLarge))
        throw this.#failure(error);
    }
    return await this.#readSlowly(statement, input);
  }

  #readSlowly<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    const { sql, bind, tenantOf, failsIfLarge, endsIfLarge: isCut = false } = statement;
    const maxBytes = failsIfLarge || isCut ? maxAnswerBytes : maxValueBytes;
    return this.#readWorkers.query(tenantOf?.(input) ?? "", { sql, values: bind(input), maxBytes, isCut });
  }

  execute<Input>(statement: Statement<Input>, input: Input): Promise<readonly ColumnValues[]> {
    return this.transaction((session) => session.query(statement, input), { isSingleWrite: true });
  }

  async transaction<T>(work: (session: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    try {
      return await this.#writer.write(work, options);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async stream<Input>(
    { rows, count }: StreamStatements<Input>,
    input: Input,
    { csv, signal }: Pick<StreamOptions, "csv" | "signal">,
  ): Promise<RowStream> {
    this.#faults?.requireFile();
    const bound = ({ sql, bind }: Statement<Input>) => ({ sql, values: bind(input) });
    const data = { file: this.#path, rows: bound(rows), count: count && bound(count), csv };
    const stream = new SqliteRowStream(data, (closed) => this.#streams.delete(closed));
    this.#streams.add(stream);
    signal.addEventListener("abort", () => stream.close(), { once: true });
    if (signal.aborted) stream.close();
    try {
      return await stream.open();
    } catch (error) {
      stream.close();
      await stream.ended;
      throw this.#failure(error);
    }
  }

  watch(report: Report, countRefused: CountRefused): void {
    this.#countRefused = countRefused;
    this.#faults = new Faults(this.#file, report);
  }

  #failure(error: unknown): unknown {
    return this.#faults ? this.#faults.problemOf(error) : error;
  }

  async run(text: string): Promise<void> {
    await this.#writer.runExclusive((connection) => connection.native.exec(text));
    // As after a commit: later reads must see the change.
    this.#readTransaction.closeUntilNextTick();
  }

  async maintain<T>(work: (session: Maintenance) => Promise<T>): Promise<T> {
    // A migration adds foreign keys to the text of the schema, which SQLite otherwise protects.
    await this.#writer.runExclusive(({ native }) => native.enableDefensive(false));
    try {
      return await work({
        query: (...args) => this.query(...args),
        transaction: (part) => this.#writer.write(part, { limitMs: Number.POSITIVE_INFINITY }),
        run: (text) => this.run(text),
      });
    } finally {
      await this.#writer.runExclusive(({ native }) => {
        native.exec("pragma writable_schema = off");
        native.enableDefensive(true);
      });
    }
  }

  async close(): Promise<void> {
    this.#faults?.close();
    for (const stream of this.#streams) stream.close();
    await Promise.all([...this.#streams].map(({ ended }) => ended));
    await this.#readWorkers.close();
    await this.#writer.close();
    this.#readTransaction.close();
    this.#reader.native.close();
  }
}
