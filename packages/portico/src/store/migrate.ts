// Brings a database to the schema of the model. Only what adds is done by itself; what could lose data is
// refused with a line that says how to do it by hand.

import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../errors.ts";
import { ConstraintError, type Session } from "./database.ts";
import { createIndex } from "./definition.ts";
import { postgresTables } from "./postgres/tables.ts";
import { indexPrefix, type Table } from "./schema.ts";
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
  const dialect = store.dialect.name === "sqlite" ? sqliteTables : postgresTables;
  const textOf = (query: RawBuilder<unknown>): string => compile(store.dialect.builder, query).sql;
  const plan = async (session: Session): Promise<string[]> => {
    const existing = await dialect.existing(session);
    const steps: RawBuilder<unknown>[] = [];
    for (const table of tables)
      steps.push(...(await tableSteps(session, dialect, table, existing.get(table.name))));
    return steps.map(textOf);
  };
  if (isDryRun || (await plan(store.database)).length === 0) return plan(store.database);

  for (const text of dialect.before) await store.database.run(text);
  try {
    return await store.transaction(async (session) => {
      await dialect.lock(session);
      // Another process may have migrated while this one waited for the lock.
      const steps = await plan(session);
      for (const text of steps) await runStep(session, text);
      return steps;
    });
  } finally {
    for (const text of dialect.after) await store.database.run(text);
  }
}

async function runStep(session: Session, text: string): Promise<void> {
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
  dialect: TableDialect,
  table: Table,
  existing: ExistingTable | undefined,
): Promise<RawBuilder<unknown>[]> {
  if (!existing) return dialect.create(table);
  refuseLosses(table, existing);
  const added = table.columns.filter((column) => !existing.columns.has(column.name));
  const isEmpty = async (): Promise<boolean> => {
    const rows = await session.query(
      { sql: `select 1 from ${quoted(table.name)} limit 1`, bind: () => [] },
      undefined,
    );
    return rows.length === 0;
  };
  for (const column of added) {
    if (column.isNullable || column.fill !== undefined || (await isEmpty())) continue;
    throw new OperatorError(
      `${column.from}: the rows of ${table.name} need a value for it; give it a default or make it optional`,
    );
  }
  const rebuilt = dialect.rebuild(table, added);
  if (rebuilt) return rebuilt;
  const relaxed = table.columns.filter(
    (column) => column.isNullable && existing.columns.get(column.name)?.isNullable === false,
  );
  return [
    ...dialect.addColumns(table, added),
    ...relaxed.map(
      (column) =>
        sql`alter table ${sql.table(table.name)} alter column ${sql.ref(column.name)} drop not null`,
    ),
    ...indexSteps(dialect, table, existing),
    ...dialect.search(table, existing),
  ];
}

function refuseLosses(table: Table, existing: ExistingTable): void {
  const declared = new Map(table.columns.map((column) => [column.name, column]));
  for (const [name, { type, isNullable }] of existing.columns) {
    const column = declared.get(name);
    const place = `${table.name}.${name}`;
    if (!column) {
      throw new OperatorError(
        `the column ${place} is no longer declared, and dropping it loses data; declare it again, or run by hand: alter table ${table.name} drop column ${name}`,
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

function indexSteps(dialect: TableDialect, table: Table, existing: ExistingTable): RawBuilder<unknown>[] {
  const wanted = new Set(table.indexes.map((index) => index.name));
  const stale = [...existing.indexes].filter((name) => name.startsWith(indexPrefix) && !wanted.has(name));
  const missing = table.indexes.filter((index) => !existing.indexes.has(index.name));
  return [
    ...stale.filter((name) => !name.endsWith("_search")).map((name) => sql`drop index ${sql.ref(name)}`),
    ...missing.map((index) => createIndex(dialect, table, index)),
  ];
}

function quoted(name: string): string {
  return `"${name}"`;
}
