// The steps that bring the columns of a table to the declared ones: first what an earlier version can continue with, and in
// the contraction what only the new one can.

import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { fillRows, lacksValues } from "./fill-rows.ts";
import type { Planning } from "./planning.ts";
import { refuseMissingValues } from "./refusals.ts";
import { hasRow, rowStep, type Step, sqlStep } from "./step.ts";
import { type Column, searchColumn, type Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

/** Steps for columns that the table lacks, unless it is rebuilt with them. */
export async function addedColumns(
  { store, session, isServing }: Planning,
  table: Table,
  existing: ExistingTable,
): Promise<readonly Column[]> {
  const added = table.columns.filter((column) => !existing.columns.has(column.name));
  if (added.every((column) => !isRequiredWithoutValue(column))) return added.map(asAdded);
  const isEmpty = !(await hasRow(session, store.dialect, table.name));
  if (!isServing) refuseMissingValues(table, added, isEmpty);
  return added.map(asAdded);
}

function isRequiredWithoutValue({ isNullable, defaultValue }: Column): boolean {
  return !isNullable && defaultValue === undefined;
}

/** A column whose values are computed can be required only once all rows have one. */
function asAdded(column: Column): Column {
  return isRequiredWithoutValue(column) && column.fill ? { ...column, isNullable: true } : column;
}

/** Makes columns optional that a row can lack: those that are declared so, and those that no field fills any longer. */
export function optionalColumns(table: Table, existing: ExistingTable): RawBuilder<unknown>[] {
  const optional = table.columns.filter(({ isNullable }) => isNullable).map(({ name }) => name);
  const isDeclared = (name: string): boolean => table.columns.some((column) => column.name === name);
  const unfilled = [...existing.columns].filter(([name, { hasDefault }]) => !isDeclared(name) && !hasDefault);
  return [...optional, ...unfilled.map(([name]) => name)]
    .filter((name) => existing.columns.get(name)?.isNullable === false)
    .map((name) => sql`alter table ${sql.table(table.name)} alter column ${sql.ref(name)} drop not null`);
}

/**
 * Fills rows that lack a value of a required field. The column is required in the contraction: an earlier version that
 * still serves inserts rows without it.
 */
export async function requiredColumns(
  planning: Planning,
  table: Table,
  existing: ExistingTable,
): Promise<Step[]> {
  const { store, session, isServing } = planning;
  const steps: Step[] = [];
  if (isServing) return steps;
  for (const column of table.columns) {
    const before = existing.columns.get(column.name);
    const isOptionalNow = before ? before.isNullable : asAdded(column).isNullable;
    if (column.isNullable || !isOptionalNow || column.name === searchColumn) continue;
    const isLacking = before
      ? await lacksValues(store, session, table.name, { column: column.name })
      : await hasRow(session, store.dialect, table.name);
    if (!column.fill && (isLacking || !planning.isContraction))
      throw new OperatorError(
        `${column.from}: existing rows may have no value, and an earlier version that is still running adds such rows; declare fill, the value or a function of the row that computes it, or make the field optional`,
      );
    if (isLacking) steps.push(fillStep(planning, table, column));
    steps.push(...requiredSteps(planning, table, column));
  }
  return steps;
}

function fillStep({ store }: Planning, table: Table, column: Column): Step {
  // Only fields of resources have `fill`.
  const resource = table.resource!;
  const fill = column.fill!;
  return rowStep(
    "fill",
    `fill ${fill.attribute.name} in the rows of ${table.name} that have no value`,
    (session, inTransaction, report) => fillRows(store, session, inTransaction, resource, fill, report),
    { isApart: true },
  );
}

function requiredSteps({ store, tables }: Planning, table: Table, { name }: Column): Step[] {
  return tables
    .requireColumn(table.name, name)
    .map(({ query, isLocking }) =>
      sqlStep(store.dialect, "required", query, { isApart: true, isLocking, isContraction: true }),
    );
}
