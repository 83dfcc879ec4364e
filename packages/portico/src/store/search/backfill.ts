// Recomputes the search words of a table, after the searched fields of its resource have changed. Other writes run between
// the batches. A table beside it records until the contraction how far the work has come: an earlier version that still
// serves writes rows with the words of other fields, so the contraction computes the words again.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { ColumnValues, Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import type { InTransaction, ReportProgress } from "../schema/step.ts";
import { searchColumn, searchStateTable, type Table } from "../schema/table.ts";
import { compile, parameter } from "../statement.ts";
import { searchText } from "./index-terms.ts";

/** Rows of one transaction, and the pause after it, in which other writes can run. */
const batchSize = 250;
const pauseMs = 5;

interface RowKey {
  readonly tenantNo: number;
  readonly id: string;
}

interface Words extends RowKey {
  readonly words: string;
}

/** What the words of all rows up to a key were computed for. */
interface RecordedWords extends RowKey {
  /** The name of the search index, which is different for other fields. */
  readonly index: string;
  /** Whether no process of an earlier version was running. */
  readonly isContraction: boolean;
  readonly isComplete: boolean;
}

export interface Backfill {
  readonly table: Table;
  readonly index: string;
  readonly columns: readonly string[];
  readonly isContraction: boolean;
  /** Whether rows that have the right words are left alone: the search index contains all rows. */
  readonly isCorrection: boolean;
}

export function createRecord(table: string): RawBuilder<unknown> {
  const columns = sql`index_name text, is_contraction integer, is_complete integer, tenant_no integer, id text`;
  return sql`create table ${sql.table(searchStateTable(table))} (${columns})`;
}

export function dropRecord(table: string): RawBuilder<unknown> {
  return sql`drop table ${sql.table(searchStateTable(table))}`;
}

/** @returns undefined if no words have been recorded since the table was created */
export async function recordedWords(
  dialect: Dialect,
  session: Session,
  table: string,
): Promise<RecordedWords | undefined> {
  const read = compile(
    dialect.builder,
    sql`select index_name, is_contraction, is_complete, tenant_no, id from ${sql.table(searchStateTable(table))}`,
  );
  const [row] = await session.query(read, undefined);
  if (!row) return undefined;
  // The columns have these types.
  const [index, isContraction, isComplete, tenantNo, id] = row as [string, number, number, number, string];
  return { index, isContraction: isContraction === 1, isComplete: isComplete === 1, tenantNo, id };
}

/** Continues after the last row that an interrupted backfill with the same purpose has recorded. */
export async function backfillSearch(
  dialect: Dialect,
  session: Session,
  inTransaction: InTransaction,
  { table, index, columns, isContraction, isCorrection }: Backfill,
  report: ReportProgress,
): Promise<void> {
  const { read, write, count, forget, record } = statementsFor(dialect, table.name, columns);
  const recorded = await recordedWords(dialect, session, table.name);
  const isContinued =
    recorded?.index === index && recorded.isContraction === isContraction && !recorded.isComplete;
  let last: RowKey = isContinued ? recorded : { tenantNo: 0, id: "" };
  const total = Number((await session.query(count, last))[0]![0]);
  for (let done = 0; ; await sleep(pauseMs)) {
    const from = last;
    const batch = await inTransaction(async (part) => {
      const rows: readonly ColumnValues[] = await part.query(read, from);
      let until = from;
      for (const [tenantNo, id, before, ...values] of rows) {
        // The columns of the key have these types.
        until = { tenantNo: tenantNo as number, id: id as string };
        const words = searchText(values);
        if (!isCorrection || words !== before) await part.query(write, { ...until, words });
      }
      await part.query(forget, undefined);
      await part.query(record, { index, isContraction, isComplete: rows.length < batchSize, ...until });
      return { until, rows: rows.length };
    });
    last = batch.until;
    done += batch.rows;
    report(done, Math.max(done, total));
    if (batch.rows < batchSize) return;
  }
}

function statementsFor(dialect: Dialect, table: string, columns: readonly string[]) {
  const name = sql.table(table);
  const key = {
    tenantNo: parameter(({ tenantNo }: RowKey) => tenantNo),
    id: parameter(({ id }: RowKey) => id),
  };
  const after = sql`(tenant_no, id) > (${key.tenantNo}, ${key.id})`;
  const read = sql.join([sql.ref(searchColumn), ...columns.map((column) => sql.ref(column))]);
  const recording = sql.table(searchStateTable(table));
  const bit = (isTrue: (words: RecordedWords) => boolean) =>
    parameter((words: RecordedWords) => (isTrue(words) ? 1 : 0));
  return {
    count: compile<RowKey>(dialect.builder, sql`select count(*) from ${name} where ${after}`),
    read: compile<RowKey>(
      dialect.builder,
      sql`select tenant_no, id, ${read} from ${name} where ${after} order by tenant_no, id limit ${sql.lit(batchSize)}${dialect.locks.update}`,
    ),
    write: compile<Words>(
      dialect.builder,
      sql`update ${name} set ${sql.ref(searchColumn)} = ${parameter(({ words }: Words) => words)} where tenant_no = ${key.tenantNo} and id = ${key.id}`,
    ),
    forget: compile(dialect.builder, sql`delete from ${recording}`),
    record: compile<RecordedWords>(
      dialect.builder,
      sql`insert into ${recording} (index_name, is_contraction, is_complete, tenant_no, id) values (${parameter(({ index }: RecordedWords) => index)},
        ${bit(({ isContraction }) => isContraction)}, ${bit(({ isComplete }) => isComplete)}, ${key.tenantNo}, ${key.id})`,
    ),
  };
}
