// The record of a migration that applies a plan or drops something, from its first change until all of it is done. If the
// migration is interrupted, the same command continues it: what it has dropped is not asked for again, and what it has
// changed does not count as a change made by others.

import { sql } from "kysely";
import type { Session } from "../database.ts";
import { compile, parameter } from "../statement.ts";
import type { Store } from "../store.ts";
import type { DropRequest } from "./drop.ts";
import { migrationTable } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface MigrationRecord {
  /** The fingerprint of the plan that it applies; undefined without one. */
  readonly plan: string | undefined;
  readonly drops: readonly DropRequest[];
}

/** The record of an interrupted migration. */
export async function findRecord(
  { dialect }: Store,
  session: Session,
  existing: ReadonlyMap<string, ExistingTable>,
): Promise<MigrationRecord | undefined> {
  if (!existing.has(migrationTable)) return undefined;
  const query = compile(dialect.builder, sql`select record from ${sql.table(migrationTable)}`);
  const [row] = await session.query(query, undefined);
  // `writeRecord` wrote it.
  return row && (JSON.parse(String(row[0])) as MigrationRecord);
}

/** In the transaction that makes the first changes. */
export async function writeRecord(
  { dialect }: Store,
  session: Session,
  record: MigrationRecord,
): Promise<void> {
  const table = sql.table(migrationTable);
  const insert = compile<MigrationRecord>(
    dialect.builder,
    sql`insert into ${table} (record) values (${parameter((value: MigrationRecord) => JSON.stringify(value))})`,
  );
  await session.query(
    compile(dialect.builder, sql`create table if not exists ${table} (record text not null)`),
    undefined,
  );
  await session.query(compile(dialect.builder, sql`delete from ${table}`), undefined);
  await session.query(insert, record);
}

export async function deleteRecord({ dialect }: Store, session: Session): Promise<void> {
  await session.query(
    compile(dialect.builder, sql`drop table if exists ${sql.table(migrationTable)}`),
    undefined,
  );
}

/** The requests that an interrupted migration has not carried out. */
export function remainingDrops(
  existing: ReadonlyMap<string, ExistingTable>,
  record: MigrationRecord | undefined,
  requests: readonly DropRequest[],
): readonly DropRequest[] {
  return requests.filter((request) => !(isRecorded(record, request) && isGone(existing, request)));
}

function isRecorded(record: MigrationRecord | undefined, { table, column }: DropRequest): boolean {
  return record?.drops.some((each) => each.table === table && each.column === column) ?? false;
}

function isGone(existing: ReadonlyMap<string, ExistingTable>, { table, column }: DropRequest): boolean {
  const columns = existing.get(table)?.columns;
  if (column === undefined || !columns) return columns === undefined;
  return !columns.has(column) && !columns.has(`${column}_id`);
}
