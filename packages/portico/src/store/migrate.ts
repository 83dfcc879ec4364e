// Brings a database to the schema of the model. Only what adds is done by itself; what could lose data is
// refused with a line that says how to do it by hand.

import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../errors.ts";
import { ConstraintError, type Session } from "./database.ts";
import { createIndex } from "./definition.ts";
import type { Dialect } from "./dialect.ts";
import { postgresTables } from "./postgres/tables.ts";
import { refillSearch } from "./refill-search.ts";
import { type Column, indexPrefix, searchColumn, type Table } from "./schema.ts";
import { sqliteTables } from "./sqlite/tables.ts";
import { compile } from "./statement.ts";
import type { Store } from "./store.ts";
import type { ExistingTable, TableDialect } from "./tables.ts";

/**
 * Brings the database to the schema of `tables`.
 * @returns the SQL statements that were run, or with `isDryRun` would be; none where nothing is to do
 * @throws OperatorError for a change that could lose data
 */
export async function migrate(store: Store, tables: readonly Table[], isDryRun = false): Promise<string[]> {
  const dialect = tableDialect(store);
  const plan = async (session: Session): Promise<Step[]> => {
    const existing = await dialect.existing(session);
    const steps: Step[] = [];
    for (const table of tables) {
      steps.push(...(await tableSteps(session, store.dialect, dialect, table, existing.get(table.name))));
    }
    for (const table of tables) {
      const references = dialect.addReferences(table, existing.get(table.name));
      steps.push(...references.map((query) => sqlStep(store.dialect, query)));
    }
    return steps;
  };
  const texts = (steps: readonly Step[]): string[] => steps.map((step) => step.text);
  const planned = await plan(store.database);
  if (isDryRun || planned.length === 0) return texts(planned);

  for (const text of dialect.before) await store.database.run(text);
  try {
    return await store.transaction(async (session) => {
      await dialect.lock(session);
      // Another process may have migrated while this one waited for the lock.
      const steps = await plan(session);
      for (const step of steps) await step.run(session);
      return texts(steps);
    });
  } finally {
    for (const text of dialect.after) await store.database.run(text);
  }
}

/** Every table that the database has, by name. */
export function existingTables(store: Store): Promise<ReadonlyMap<string, ExistingTable>> {
  return tableDialect(store).existing(store.database);
}

function tableDialect({ dialect }: Store): TableDialect {
  return dialect.name === "sqlite" ? sqliteTables : postgresTables;
}

/** A part of a migration: SQL, or work on rows that only Portico can do. */
interface Step {
  readonly text: string;
  run(session: Session): Promise<unknown>;
}

function sqlStep(dialect: Dialect, query: RawBuilder<unknown>): Step {
  const { sql: text } = compile(dialect.builder, query);
  return { text, run: (session) => runSql(session, text) };
}

async function runSql(session: Session, text: string): Promise<void> {
  try {
    await session.query({ sql: text, bind: () => [] }, undefined);
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const shared = error.columns.filter((column) => column !== "tenant_id").join(" and ");
    throw new OperatorError(`rows share the same ${shared}; change them first, because this failed: ${text}`);
  }
}

async function tableSteps(
  session: Session,
  dialect: Dialect,
  tables: TableDialect,
  table: Table,
  existing: ExistingTable | undefined,
): Promise<Step[]> {
  const steps = (queries: readonly RawBuilder<unknown>[]): Step[] =>
    queries.map((query) => sqlStep(dialect, query));
  if (!existing) return steps([...tables.create(table), ...(table.search ? tables.createSearch(table) : [])]);
  refuseLosses(table, existing);
  refuseOtherReferences(table, existing);
  const added = table.columns.filter((column) => !existing.columns.has(column.name));
  await refuseMissingValues(session, table, added);
  const rebuilt = tables.rebuild(table, added);
  const isSearchKept = !rebuilt && hasSearchOf(table, existing);
  const isSearchDropped = !rebuilt && !table.search && existing.columns.has(searchColumn);
  return [
    ...(isSearchKept ? [] : steps(tables.dropSearch(table, existing))),
    ...steps(
      rebuilt ?? [
        ...tables.addColumns(table, added),
        ...relaxSteps(table, existing),
        ...indexSteps(tables, table, existing),
      ],
    ),
    ...(isSearchKept || !table.search
      ? []
      : [refillStep(dialect, table, table.search.columns), ...steps(tables.createSearch(table))]),
    ...(isSearchDropped
      ? steps([sql`alter table ${sql.table(table.name)} drop column ${sql.ref(searchColumn)}`])
      : []),
  ];
}

function hasSearchOf({ search }: Table, { searches }: ExistingTable): boolean {
  return search ? searches.has(search.index) : searches.size === 0;
}

/** What a column refers to is checked on every write; rows that stand already were not checked against another table. */
function refuseOtherReferences(table: Table, existing: ExistingTable): void {
  for (const { name, from } of table.columns) {
    if (!existing.columns.has(name)) continue;
    const wanted = table.foreignKeys.find(({ column }) => column === name)?.table;
    const found = existing.references.get(name);
    if (wanted === found) continue;
    throw new OperatorError(
      `${from}: the column ${table.name}.${name} refers to ${found ?? "nothing"}, not to ${wanted ?? "nothing"}; declare a new field and copy the values by hand`,
    );
  }
}

async function refuseMissingValues(session: Session, table: Table, added: readonly Column[]): Promise<void> {
  const lacking = added.find((column) => !column.isNullable && column.fill === undefined);
  if (!lacking) return;
  const rows = await session.query(
    { sql: `select 1 from "${table.name}" limit 1`, bind: () => [] },
    undefined,
  );
  if (rows.length === 0) return;
  throw new OperatorError(
    `${lacking.from}: the rows of ${table.name} need a value for it; give it a default or make it optional`,
  );
}

function relaxSteps(table: Table, existing: ExistingTable): RawBuilder<unknown>[] {
  return table.columns
    .filter((column) => column.isNullable && existing.columns.get(column.name)?.isNullable === false)
    .map(({ name }) => sql`alter table ${sql.table(table.name)} alter column ${sql.ref(name)} drop not null`);
}

function refillStep(dialect: Dialect, table: Table, columns: readonly string[]): Step {
  return {
    text: `-- the search words of ${table.name} are made anew from ${columns.join(", ")}`,
    run: (session) => refillSearch(dialect, session, table, columns),
  };
}

function refuseLosses(table: Table, existing: ExistingTable): void {
  const declared = new Map(table.columns.map((column) => [column.name, column]));
  for (const [name, { type, isNullable }] of existing.columns) {
    const column = declared.get(name);
    const place = `${table.name}.${name}`;
    if (!column && name === searchColumn) continue;
    if (!column) {
      throw new OperatorError(
        `the column ${place} is no longer declared, and nothing drops data by itself; ${remedyOf(table, existing, name)}`,
      );
    }
    if (column.type !== type) {
      throw new OperatorError(
        `${column.from}: the column ${place} holds ${type}, not ${column.type}; declare a new field and copy the values by hand, then drop the column`,
      );
    }
    if (!column.isNullable && isNullable) {
      throw new OperatorError(
        `${column.from}: rows may lack it so far; fill them, then run by hand: alter table ${table.name} alter column ${name} set not null`,
      );
    }
  }
}

/** What to do about a column that is no longer declared; a field that has its type may be the same under another name. */
function remedyOf(table: Table, existing: ExistingTable, name: string): string {
  const { type } = existing.columns.get(name)!;
  const candidate = table.columns.find((each) => !existing.columns.has(each.name) && each.type === type);
  const rename = `alter table ${table.name} rename column ${name} to ${candidate?.name ?? "NEW_NAME"}`;
  return `if its field was renamed, stop the server and run by hand: ${rename}; otherwise declare it again, or read "When a declaration changes" in the documentation before you give its values up`;
}

function indexSteps(dialect: TableDialect, table: Table, existing: ExistingTable): RawBuilder<unknown>[] {
  const wanted = new Set(table.indexes.map((index) => index.name));
  const stale = [...existing.indexes].filter((name) => name.startsWith(indexPrefix) && !wanted.has(name));
  const missing = table.indexes.filter((index) => !existing.indexes.has(index.name));
  return [
    ...stale.map((name) => sql`drop index ${sql.ref(name)}`),
    ...missing.map((index) => createIndex(dialect, table, index)),
  ];
}
