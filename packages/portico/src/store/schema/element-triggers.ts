// The statements with which triggers and migrations write an index of elements.

import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { elementColumn } from "./element-table.ts";
import type { ElementIndex } from "./table.ts";

/** A row in a statement: `new`, `old`, or the alias of a table. */
type RowName = string;

function valuesOf(row: RowName, columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql`${sql.raw(row)}.${sql.ref(column)}`));
}

/**
 * Adds the elements of rows. An element that a list has twice is added once.
 * @param rows further `from` items, which have the row
 * @param condition on the rows
 */
export function addElements(
  dialect: Pick<Dialect, "elementsOf">,
  index: ElementIndex,
  row: RowName,
  rows: RawBuilder<unknown> = sql``,
  condition: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  const { name, list, elementKind, columns } = index;
  const own = ["tenant_no", ...columns];
  const elements = dialect.elementsOf(elementKind, sql`${sql.raw(row)}.${sql.ref(list)}`);
  return sql`insert into ${sql.table(name)} (${sql.ref(elementColumn)}, ${sql.join(own.map((column) => sql.ref(column)))})
    select element.value, ${valuesOf(row, own)} from ${rows}${elements} as element
    where element.value is not null and ${condition} on conflict do nothing`;
}

/** Removes the elements of a row. */
export function removeElements(
  dialect: Pick<Dialect, "elementsOf">,
  { name, list, elementKind, columns }: ElementIndex,
  row: RowName,
): RawBuilder<unknown> {
  const elements = dialect.elementsOf(elementKind, sql`${sql.raw(row)}.${sql.ref(list)}`);
  const own = ["tenant_no", ...columns];
  return sql`delete from ${sql.table(name)} where (${sql.join(own.map((column) => sql.ref(column)))}) = (${valuesOf(row, own)})
    and ${sql.ref(elementColumn)} in (select element.value from ${elements} as element)`;
}

/** The columns whose change changes the index. */
export function watchedColumns({ list, columns }: ElementIndex): RawBuilder<unknown> {
  return sql.join([list, ...columns].map((column) => sql.ref(column)));
}

/** Whether an update changes the list, or what orders the rows. */
export function isChanged({ list, columns }: ElementIndex, differ: string, cast = ""): RawBuilder<unknown> {
  const changes = [list, ...columns].map(
    (column) =>
      sql`old.${sql.ref(column)}${sql.raw(cast)} ${sql.raw(differ)} new.${sql.ref(column)}${sql.raw(cast)}`,
  );
  return sql.join(changes, sql` or `);
}
