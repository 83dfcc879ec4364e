// The sizes of the indexes that a migration has created, and before that estimates of them.

import type { Session } from "../database.ts";
import type { Store } from "../store.ts";
import { existingTables, type IndexChange, tableDialect } from "./migrate.ts";
import type { Index, Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface SizedIndexChange extends IndexChange {
  /** Whether the size is estimated from the rows, because the index does not exist yet. */
  readonly isEstimate: boolean;
}

/** Rows that an estimate looks at. */
const sampledRows = 1_000;
/** Of an entry: its header, its pointer to the row, and its place in the page. */
const entryBytes = { sqlite: 12, postgres: 18 };
/** How full a new index leaves its pages. */
const fill = { sqlite: 1, postgres: 0.9 };

/** The changes with the sizes of indexes that were created, or that would be. */
export async function withSizes(
  store: Store,
  tables: readonly Table[],
  changes: readonly IndexChange[],
  isDryRun: boolean,
): Promise<SizedIndexChange[]> {
  const created = changes.filter(({ change }) => change === "created");
  const names = created.map(({ name }) => name);
  if (names.length === 0) return changes.map((each) => ({ ...each, isEstimate: false }));
  const sizes = isDryRun
    ? await estimates(store, tables, created)
    : await (await tableDialect(store)).indexSizes(store.database, names);
  return changes.map((each) => {
    if (each.change !== "created") return { ...each, isEstimate: false };
    return { ...each, size: sizes.get(each.name), isEstimate: isDryRun };
  });
}

async function estimates(
  store: Store,
  tables: readonly Table[],
  changes: readonly IndexChange[],
): Promise<Map<string, number>> {
  const existing = await existingTables(store);
  const sizes = new Map<string, number>();
  for (const { name, table: tableName } of changes) {
    const table = tables.find((each) => each.name === tableName);
    const index = table?.indexes.find((each) => each.name === name);
    const current = existing.get(tableName);
    if (table && index && current) sizes.set(name, await estimate(store, table, index, current));
  }
  return sizes;
}

/** The number of rows times the average length of what the index stores of a row. */
async function estimate(
  { dialect, database }: Store,
  table: Table,
  index: Index,
  { columns }: ExistingTable,
): Promise<number> {
  const lengths = index.columns
    .filter(({ name }) => columns.has(name))
    .map(({ name }) => {
      const isFixed = dialect.name === "postgres" && columns.get(name)!.type !== "text";
      return isFixed ? "8" : `coalesce(octet_length(cast("${name}" as text)), 0) + 1`;
    });
  const sample = `select avg(${["0", ...lengths].join(" + ")}) from (select * from "${table.name}" limit ${sampledRows}) as sample`;
  const bytes = await number(database, sample);
  const rows = await countRows(database, dialect.name, table.name);
  return Math.ceil((rows * (bytes + entryBytes[dialect.name])) / fill[dialect.name]);
}

/** PostgreSQL knows about how many rows an analyzed table has; counting them would read it. */
async function countRows(session: Session, database: "sqlite" | "postgres", table: string): Promise<number> {
  const known =
    database === "postgres"
      ? await number(session, `select reltuples::bigint from pg_class where oid = '"${table}"'::regclass`)
      : -1;
  return known > 0 ? known : number(session, `select count(*) from "${table}"`);
}

async function number(session: Session, sql: string): Promise<number> {
  const [row] = await session.query({ sql, bind: () => [] }, undefined);
  return Number(row?.[0] ?? 0);
}
