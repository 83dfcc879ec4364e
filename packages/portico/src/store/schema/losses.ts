// What `--drop` deletes, for the operator who confirms it.

import { sql } from "kysely";
import { compile } from "../statement.ts";
import type { Store } from "../store.ts";
import { type DropRequest, dropsOf } from "./drop.ts";
import { existingTables } from "./migrate.ts";
import { findRecord, remainingDrops } from "./migration-record.ts";
import { retryIfChanged } from "./run-steps.ts";
import type { Table } from "./table.ts";

/** How many values and rows the requests delete: a line for each column and table. @throws OperatorError as `migrate` */
export function lossesOf(
  store: Store,
  tables: readonly Table[],
  requests: readonly DropRequest[],
): Promise<string[]> {
  return retryIfChanged(() => countLosses(store, tables, requests));
}

async function countLosses(
  store: Store,
  tables: readonly Table[],
  requests: readonly DropRequest[],
): Promise<string[]> {
  const existing = await existingTables(store);
  const record = await findRecord(store, store.database, existing);
  const drops = dropsOf(existing, tables, remainingDrops(existing, record, requests));
  const countOf = async (table: string, column?: string): Promise<number> => {
    const counted = column === undefined ? sql`*` : sql.ref(column);
    const query = compile(store.dialect.builder, sql`select count(${counted}) from ${sql.table(table)}`);
    return Number((await store.database.query(query, undefined))[0]![0]);
  };
  const losses: string[] = [];
  for (const [table, columns] of drops.columns)
    for (const column of columns)
      losses.push(`${await countOf(table, column)} values of the column ${table}.${column}`);
  for (const table of drops.tables) losses.push(`the table ${table} with ${await countOf(table)} rows`);
  return losses;
}
