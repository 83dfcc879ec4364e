// Recomputes the search words of a table, after the searched fields of its resource have changed.

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { ColumnValues, Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { searchColumn, type Table } from "../schema/ddl.ts";
import { compile, parameter } from "../statement.ts";
import { searchText } from "./index-terms.ts";

/** Rows of one transaction, and the pause after it, in which other writes can run. */
const batchSize = 500;
const pauseMs = 5;

interface RowKey {
  readonly tenantNo: number;
  readonly id: string;
}

interface Words extends RowKey {
  readonly words: string;
}

/** @param inTransaction runs the work of one batch in a transaction, which is usually its own */
export async function backfillSearch(
  dialect: Dialect,
  inTransaction: (work: (session: Session) => Promise<void>) => Promise<void>,
  table: Table,
  columns: readonly string[],
): Promise<void> {
  const name = sql.table(table.name);
  const after = sql`(tenant_no, id) > (${parameter(({ tenantNo }: RowKey) => tenantNo)}, ${parameter(({ id }: RowKey) => id)})`;
  const read = compile<RowKey>(
    dialect.builder,
    sql`select tenant_no, id, ${sql.join(columns.map((column) => sql.ref(column)))} from ${name} where ${after} order by tenant_no, id limit ${sql.lit(batchSize)}${dialect.locks.update}`,
  );
  const write = compile<Words>(
    dialect.builder,
    sql`update ${name} set ${sql.ref(searchColumn)} = ${parameter(({ words }: Words) => words)}
      where tenant_no = ${parameter(({ tenantNo }: Words) => tenantNo)} and id = ${parameter(({ id }: Words) => id)}`,
  );
  let last: RowKey | undefined = { tenantNo: 0, id: "" };
  while (last) {
    const from: RowKey = last;
    await inTransaction(async (session) => {
      const rows: readonly ColumnValues[] = await session.query(read, from);
      last = undefined;
      for (const [tenantNo, id, ...values] of rows) {
        // The columns of the key have these types.
        last = { tenantNo: tenantNo as number, id: id as string };
        await session.query(write, { ...last, words: searchText(values) });
      }
    });
    await sleep(pauseMs);
  }
}
