// Gives a value to rows that have none, in batches that other writes can run between. An interrupted fill is repeated:
// rows that have a value by then are skipped.

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { select } from "../../query/selection.ts";
import type { RowValues } from "../../query/write.ts";
import { rowJson } from "../compile/row.ts";
import { ConstraintError, type Session } from "../database.ts";
import { compile, parameter } from "../statement.ts";
import type { Store } from "../store.ts";
import { storedAttributes } from "./resource-table.ts";
import { hasRow, type InTransaction, type ReportProgress } from "./step.ts";
import type { ColumnFill } from "./table.ts";

/** Rows that one transaction fills, and the pause after it, in which other writes can run. */
const batchSize = 250;
const pauseMs = 5;

interface RowKey {
  readonly tenantNo: number;
  readonly id: string;
}

/** Whether rows have no value. */
export function lacksValues(
  store: Store,
  session: Session,
  table: string,
  { column }: Pick<Attribute, "column">,
): Promise<boolean> {
  return hasRow(session, store.dialect, table, sql`${sql.ref(column)} is null`);
}

/** @throws OperatorError for a value that the field does not allow */
export async function fillRows(
  store: Store,
  session: Session,
  inTransaction: InTransaction,
  resource: ResourceModel,
  fill: ColumnFill,
  report: ReportProgress,
): Promise<void> {
  const { dialect } = store;
  const { column } = fill.attribute;
  const table = sql.table(resource.table);
  const isMissing = sql`${sql.ref(column)} is null`;
  const count = compile(dialect.builder, sql`select count(*) from ${table} where ${isMissing}`);
  const after = sql`(tenant_no, id) > (${parameter(({ tenantNo }: RowKey) => tenantNo)}, ${parameter(({ id }: RowKey) => id)})`;
  const read = compile<RowKey>(
    dialect.builder,
    sql`select tenant_no, id, ${rowJson(dialect, "r", select(storedAttributes(resource)))} from ${table} as r
      where ${after} and ${isMissing} order by tenant_no, id limit ${sql.lit(batchSize)}${dialect.locks.update}`,
  );
  const total = Number((await session.query(count, undefined))[0]![0]);
  let last: RowKey = { tenantNo: 0, id: "" };
  for (let done = 0; ; await sleep(pauseMs)) {
    const from = last;
    const batch = await inTransaction(async (part) => {
      // The columns have these types.
      const rows = (await part.query(read, from)) as readonly (readonly [number, string, string])[];
      const numbers = rows.map(([tenantNo]) => tenantNo);
      // Outside the transaction, so that the tenants are cached: they exist longer than their rows.
      const tenantIdOf = await store.tenants.findIds(store.database, numbers);
      await Promise.all(
        rows.map(([tenantNo, id, text]) =>
          fillRow(store, part, resource, fill, JSON.parse(text), { tenantId: tenantIdOf(tenantNo), id }),
        ),
      );
      return rows;
    });
    const [tenantNo, id] = batch.at(-1) ?? [];
    if (tenantNo !== undefined && id !== undefined) last = { tenantNo, id };
    const rows = batch.length;
    done += rows;
    report(done, Math.max(done, total));
    if (rows < batchSize) return;
  }
}

async function fillRow(
  store: Store,
  session: Session,
  resource: ResourceModel,
  { attribute, valueFor }: ColumnFill,
  row: RowValues,
  key: { readonly tenantId: string; readonly id: string },
): Promise<void> {
  const { name } = attribute;
  const value = valueFor(Object.freeze(row));
  // The words of the search index are computed from all searched fields.
  const searched = resource.search.includes(attribute) ? resource.search : [];
  const values = {
    ...Object.fromEntries(searched.map((each) => [each.name, row[each.name]])),
    [name]: value,
  };
  try {
    await store.writes.update(session, { resource, ...key, values });
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const fault = error.kind === "unique" ? "another row has" : "it refers to no row:";
    throw new OperatorError(
      `resource ${resource.name}, field ${name}: fill of the row ${key.id} failed, because ${fault} ${JSON.stringify(value)}`,
    );
  }
}
