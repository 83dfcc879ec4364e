// Adds the elements of existing rows to an index, in batches that other writes can run between. Triggers add those of rows
// that are written meanwhile. A table records how far the work has come, so that an interrupted one continues.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { elementStateTable } from "./element-table.ts";
import { addElements } from "./element-triggers.ts";
import type { InTransaction, ReportProgress } from "./step.ts";
import type { ElementIndex } from "./table.ts";

/** Rows of one transaction, and the pause after it, in which other writes can run. */
const batchSize = 250;
const pauseMs = 5;

interface RowKey {
  readonly tenantNo: number;
  readonly id: string;
}

interface Batch {
  readonly from: RowKey;
  readonly until: RowKey;
}

export function createElementState(index: ElementIndex): RawBuilder<unknown> {
  return sql`create table ${sql.table(elementStateTable(index))} (tenant_no integer, id text)`;
}

export async function fillElements(
  dialect: Dialect,
  session: Session,
  inTransaction: InTransaction,
  index: ElementIndex,
  report: ReportProgress,
): Promise<void> {
  const { recorded, count, read, add, forget, record } = statementsFor(dialect, index);
  const [row] = await session.query(recorded, undefined);
  // The columns have these types.
  let last: RowKey = row ? { tenantNo: row[0] as number, id: row[1] as string } : { tenantNo: 0, id: "" };
  const total = Number((await session.query(count, last))[0]![0]);
  for (let done = 0; ; await sleep(pauseMs)) {
    const from = last;
    const batch = await inTransaction(async (part) => {
      // Locks the rows: what is added is what they have until the transaction ends.
      const keys = await part.query(read, from);
      const [tenantNo, id] = keys.at(-1) ?? [];
      const until = keys.length === 0 ? from : { tenantNo: tenantNo as number, id: id as string };
      await part.query(add, { from, until });
      await part.query(forget, undefined);
      await part.query(record, until);
      return { until, rows: keys.length };
    });
    last = batch.until;
    done += batch.rows;
    report(done, Math.max(done, total));
    if (batch.rows < batchSize) return;
  }
}

function statementsFor(dialect: Dialect, index: ElementIndex) {
  const { builder, locks } = dialect;
  const [table, state] = [sql.table(index.table), sql.table(elementStateTable(index))];
  const keyOf = <Input>(read: (input: Input) => RowKey): RawBuilder<unknown> =>
    sql`${parameter((input: Input) => read(input).tenantNo)}, ${parameter((input: Input) => read(input).id)}`;
  const key = keyOf((each: RowKey) => each);
  const isInBatch = sql`(r.tenant_no, r.id) > (${keyOf(({ from }: Batch) => from)}) and (r.tenant_no, r.id) <= (${keyOf(({ until }: Batch) => until)})`;
  return {
    recorded: compile(builder, sql`select tenant_no, id from ${state}`),
    count: compile<RowKey>(builder, sql`select count(*) from ${table} where (tenant_no, id) > (${key})`),
    read: compile<RowKey>(
      builder,
      sql`select tenant_no, id from ${table} where (tenant_no, id) > (${key}) order by tenant_no, id limit ${sql.lit(batchSize)}${locks.update}`,
    ),
    add: compile<Batch>(builder, addElements(dialect, index, "r", sql`${table} as r cross join `, isInBatch)),
    forget: compile(builder, sql`delete from ${state}`),
    record: compile<RowKey>(builder, sql`insert into ${state} (tenant_no, id) values (${key})`),
  };
}
