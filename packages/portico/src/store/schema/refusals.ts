// Changes of a table that a migration refuses, because they could lose data or rows would have no value. Each error says
// how to make the change.

import { OperatorError } from "../../errors.ts";
import { camelCase } from "../../lib/case.ts";
import type { Planning } from "./planning.ts";
import { type Column, searchColumn, type Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

/** @throws OperatorError for a column that would lose values, or whose values a new field seems to be for */
export function refuseDataLoss(
  { isServing, kept }: Pick<Planning, "isServing" | "kept">,
  table: Table,
  existing: ExistingTable,
): void {
  const declared = new Map(table.columns.map((column) => [column.name, column]));
  for (const [name, { type, isNullable, hasDefault }] of existing.columns) {
    const column = declared.get(name);
    const columnName = `${table.name}.${name}`;
    if (!column && name === searchColumn) continue;
    if (!column && isServing && (isNullable || hasDefault)) continue;
    if (!column) {
      // What is decided about rows holds for deleted rows too.
      const owner = table.resource?.deletedOf?.table ?? table.name;
      if (![name, fieldColumn(existing, name)].some((each) => kept.has(`${owner}.${each}`)))
        refuseRenameWithoutWas(table, existing, name);
      continue;
    }
    if (column.type !== type) {
      throw new OperatorError(
        `${column.from}: the column ${columnName} holds ${type}, not ${column.type}; declare a new field, fill it, and drop the old one`,
      );
    }
  }
}

/** The name of a column without the suffix of references. */
function fieldColumn({ references }: ExistingTable, column: string): string {
  return references.has(column) ? column.replace(/_id$/, "") : column;
}

/** @throws OperatorError if a field of the same type is added: it may be the field of the column, renamed */
function refuseRenameWithoutWas(table: Table, existing: ExistingTable, name: string): void {
  const { type } = existing.columns.get(name)!;
  const isLike = (each: Column): boolean =>
    each.type === type &&
    table.foreignKeys.find(({ column }) => column === each.name)?.table === existing.references.get(name);
  const candidate = table.columns.find((each) => !existing.columns.has(each.name) && isLike(each));
  if (!candidate) return;
  const former = camelCase(fieldColumn(existing, name).replaceAll("_", "-"));
  throw new OperatorError(
    `${candidate.from}: the column ${table.name}.${name} no longer has a field; if the field was renamed, declare was: "${former}", also if it was renamed before, otherwise run portico migrate --keep ${table.name}.${former}, or --drop ${table.name}.${former} to delete its values`,
  );
}

/** @throws OperatorError if a column refers to another table than declared: existing rows were not checked against it */
export function refuseOtherReferences(table: Table, existing: ExistingTable): void {
  for (const { name, from } of table.columns) {
    if (!existing.columns.has(name)) continue;
    const declared = table.foreignKeys.find(({ column }) => column === name)?.table;
    const existingTarget = existing.references.get(name);
    if (declared === existingTarget) continue;
    throw new OperatorError(
      `${from}: the column ${table.name}.${name} refers to ${existingTarget ?? "nothing"}, not to ${declared ?? "nothing"}; declare a new field, fill it, and drop the old one`,
    );
  }
}

/** @throws OperatorError if existing rows would have no value in an added column */
export function refuseMissingValues(table: Table, added: readonly Column[], isEmpty: boolean): void {
  const missing = added.find(
    ({ isNullable, defaultValue, fill }) => !isNullable && defaultValue === undefined && !fill,
  );
  if (!missing || isEmpty) return;
  throw new OperatorError(
    `${missing.from}: the existing rows of ${table.name} need a value; declare fill or a default, or make the field optional`,
  );
}
