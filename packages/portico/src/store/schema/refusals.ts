// Changes of a table that a migration refuses, because they could lose data. Each error says how to make the change by
// hand.

import { OperatorError } from "../../errors.ts";
import type { Session } from "../database.ts";
import { type Column, searchColumn, type Table } from "./ddl.ts";
import type { ExistingTable } from "./tables.ts";

/**
 * @param isServing whether to ignore columns that a newer version has added or made optional
 * @throws OperatorError for a column that would lose values
 */
export function refuseDataLoss(table: Table, existing: ExistingTable, isServing: boolean): void {
  const declared = new Map(table.columns.map((column) => [column.name, column]));
  for (const [name, { type, isNullable, hasDefault }] of existing.columns) {
    const column = declared.get(name);
    const columnName = `${table.name}.${name}`;
    if (!column && name === searchColumn) continue;
    if (!column && isServing && (isNullable || hasDefault)) continue;
    if (!column) {
      throw new OperatorError(
        `the column ${columnName} is no longer declared, and a migration drops no data; ${remedyOf(table, existing, name)}`,
      );
    }
    if (column.type !== type) {
      throw new OperatorError(
        `${column.from}: the column ${columnName} holds ${type}, not ${column.type}; declare a new field and copy the values by hand, then drop the column`,
      );
    }
    if (!column.isNullable && isNullable && !isServing && name !== searchColumn) {
      throw new OperatorError(
        `${column.from}: existing rows may have no value; set the values, then run: alter table ${table.name} alter column ${name} set not null`,
      );
    }
  }
}

/** What to do about a column that is no longer declared. A new field of the same type may be the same field, renamed. */
function remedyOf(table: Table, existing: ExistingTable, name: string): string {
  const { type } = existing.columns.get(name)!;
  const candidate = table.columns.find((each) => !existing.columns.has(each.name) && each.type === type);
  const rename = `alter table ${table.name} rename column ${name} to ${candidate?.name ?? "NEW_NAME"}`;
  return `if its field was renamed, stop the server and run: ${rename}; otherwise declare it again, or read "When a declaration changes" in the documentation before you delete its values`;
}

/** @throws OperatorError if a column refers to another table than declared: existing rows were not checked against it */
export function refuseOtherReferences(table: Table, existing: ExistingTable): void {
  for (const { name, from } of table.columns) {
    if (!existing.columns.has(name)) continue;
    const declared = table.foreignKeys.find(({ column }) => column === name)?.table;
    const existingTarget = existing.references.get(name);
    if (declared === existingTarget) continue;
    throw new OperatorError(
      `${from}: the column ${table.name}.${name} refers to ${existingTarget ?? "nothing"}, not to ${declared ?? "nothing"}; declare a new field and copy the values by hand`,
    );
  }
}

/** @throws OperatorError if existing rows would have no value in an added column */
export async function refuseMissingValues(
  session: Session,
  table: Table,
  added: readonly Column[],
): Promise<void> {
  const missing = added.find((column) => !column.isNullable && column.defaultValue === undefined);
  if (!missing) return;
  const rows = await session.query(
    { sql: `select 1 from "${table.name}" limit 1`, bind: () => [] },
    undefined,
  );
  if (rows.length === 0) return;
  throw new OperatorError(
    `${missing.from}: the existing rows of ${table.name} need a value; declare a default or make the field optional`,
  );
}
