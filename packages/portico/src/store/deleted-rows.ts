// The rows that were deleted softly: keeps them, restores them and deletes them for good.

import { sql } from "kysely";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import {
  compileBatches,
  compileForget,
  compileForgetReferring,
  compileKeep,
  compileRestore,
  type DeletedBatch,
  type Deletion,
  type KeptRows,
  type ReferringRows,
} from "./compile/deleted-rows.ts";
import { compileManyRows, type WriteRows } from "./compile/many-rows.ts";
import { searchWordsOf } from "./compile/write.ts";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { searchColumn } from "./schema/table.ts";
import { Shapes } from "./shapes.ts";
import type { Tenants } from "./tenants.ts";

type Stored<Input> = Input & { readonly tenantNo: number | null };
type Compile<Input> = (dialect: Dialect, resource: ResourceModel) => Statement<Stored<Input>>;

export class DeletedRows {
  readonly #dialect: Dialect;
  readonly #tenants: Tenants;
  readonly #searchWords = new Shapes<WriteRows>();
  readonly #statements = new Shapes<Statement<never>>();

  constructor(dialect: Dialect, tenants: Tenants) {
    this.#dialect = dialect;
    this.#tenants = tenants;
  }

  /** Copies rows that the transaction is about to delete. */
  async keep(session: Session, rows: KeptRows): Promise<void> {
    await this.#run(session, "keep", compileKeep, rows);
  }

  /** The numbers of the batches in which rows of a resource were deleted with a row. */
  async batches(session: Session, deletion: Deletion): Promise<readonly number[]> {
    const rows = await this.#run(session, "batches", compileBatches, deletion);
    return rows.map(([order]) => Number(order));
  }

  /** Restores a batch, whose rows stay among the deleted ones until `forget`. @returns their texts by id, the oldest first */
  async restore(session: Session, batch: DeletedBatch): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#run(session, "restore", compileRestore, batch);
    const texts = new Map(rows.map(([id, text]) => [id as string, text as string]));
    const { resource, tenantId } = batch;
    if (resource.search.length === 0) return texts;
    const write = this.#searchWords.get(resource, "", () => this.#compileSearchWords(resource));
    const words = [...texts].map(([id, text]) => {
      // The database built the text from the row.
      const row = JSON.parse(text) as RowValues;
      return { tenant_no: tenantId, id, words: searchWordsOf(resource, row) };
    });
    await write(session, words);
    return texts;
  }

  /** Deletes rows for good that were deleted with a row. */
  async forget(session: Session, deletion: Deletion): Promise<void> {
    await this.#run(session, "forget", compileForget, deletion);
  }

  /** Deletes deleted rows for good that refer to rows. @returns their texts by id */
  async forgetReferring(session: Session, rows: ReferringRows): Promise<ReadonlyMap<string, string>> {
    const { reference } = rows;
    const compile = (dialect: Dialect, resource: ResourceModel): Statement<Stored<ReferringRows>> =>
      compileForgetReferring(dialect, resource, reference);
    const deleted = await this.#run(session, `forget ${reference.name}`, compile, rows);
    return new Map(deleted.map(([id, text]) => [id as string, text as string]));
  }

  /** Writes the search words of rows, with one statement if the database is remote. */
  #compileSearchWords({ table }: ResourceModel): WriteRows {
    const columns = [
      { name: "tenant_no", type: "tenant" },
      { name: "id", type: "text" },
      { name: "words", type: "text" },
    ] as const;
    const store = { dialect: this.#dialect, tenants: this.#tenants };
    return compileManyRows(
      store,
      columns,
      (rows) =>
        sql`update ${sql.table(table)} as r set ${sql.ref(searchColumn)} = n.words from ${rows} as n where r.tenant_no = n.tenant_no and r.id = n.id`,
    );
  }

  async #run<Input extends { readonly resource: ResourceModel; readonly tenantId: string }>(
    session: Session,
    shape: string,
    compile: Compile<Input>,
    input: Input,
  ): Promise<readonly ColumnValues[]> {
    // The statements of a shape have the same input.
    const statement = this.#statements.get(input.resource, shape, () =>
      compile(this.#dialect, input.resource),
    ) as Statement<Stored<Input>>;
    const { tenantId } = input;
    const tenantNo = this.#tenants.numberOf(tenantId) ?? (await this.#tenants.findNumber(session, tenantId));
    return session.query(statement, { ...input, tenantNo });
  }
}
