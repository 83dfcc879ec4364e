// Brings a database to the schema of the model. Only what adds is done by itself; what could lose data is
// refused with a line that says how to do it by hand.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { ConstraintError, type Maintenance, type Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { postgresTables } from "../postgres/tables.ts";
import { backfillSearch } from "../search/backfill.ts";
import { sqliteTables } from "../sqlite/tables.ts";
import { compile } from "../statement.ts";
import type { Store } from "../store.ts";
import { type Column, indexPrefix, searchColumn, type Table } from "./ddl.ts";
import type { ExistingTable, TableDialect } from "./tables.ts";

/** How long a migration tries to change tables that others use, and the pause between two tries. */
const maxTryMs = 60_000;
const betweenTriesMs = 500;

/**
 * Brings the database to the schema of `tables`. Processes that serve the version before go on: what they read and
 * write stays as it is, and nobody waits for long.
 *
 * @returns the SQL statements that were run, or with `isDryRun` would be; none where nothing is to do
 * @throws OperatorError for a change that could lose data
 */
export async function migrate(store: Store, tables: readonly Table[], isDryRun = false): Promise<string[]> {
  const planned = await plan(store, tables, store.database);
  if (isDryRun || planned.length === 0) return textsOf(planned);
  return store.database.maintain((session) => carryOut(store, tables, session));
}

/**
 * What the database lacks for a process that serves `tables`; what a newer version has added is left out.
 *
 * @returns the SQL statements that would add it
 * @throws OperatorError where they cannot be served
 */
export async function lacking(store: Store, tables: readonly Table[]): Promise<string[]> {
  const steps = await plan(store, tables, store.database, true);
  return textsOf(steps.filter((step) => !step.isRemoval));
}

async function plan(
  store: Store,
  tables: readonly Table[],
  session: Session,
  isServing = false,
): Promise<Step[]> {
  const dialect = tableDialect(store);
  const existing = await dialect.existing(session);
  const steps: Step[] = [];
  for (const table of tables) {
    const existingTarget = existing.get(table.name);
    steps.push(...(await tableSteps(session, store.dialect, dialect, table, existingTarget, isServing)));
  }
  for (const table of tables) {
    const { added, checked } = dialect.addReferences(table, existing.get(table.name));
    steps.push(...added.map((query) => sqlStep(store.dialect, query)));
    steps.push(...checked.map((query) => sqlStep(store.dialect, query, { isApart: true })));
  }
  return steps;
}

async function carryOut(store: Store, tables: readonly Table[], session: Maintenance): Promise<string[]> {
  const dialect = tableDialect(store);
  await dialect.lock(session);
  for (const text of dialect.before) await session.run(text);
  try {
    const steps = await unblocked(dialect, () =>
      session.transaction(async (part) => {
        await dialect.limitLockWait(part);
        // Another process may have migrated while this one waited for the lock.
        const planned = await plan(store, tables, part);
        const inTransaction = (work: (session: Session) => Promise<void>): Promise<void> => work(part);
        for (const step of planned) if (!step.isApart) await step.run(part, inTransaction);
        return planned;
      }),
    );
    for (const step of steps) if (step.isApart) await step.run(session, (work) => session.transaction(work));
    return textsOf(steps);
  } finally {
    for (const text of dialect.after) await session.run(text);
  }
}

/** A change of a table waits for all who use it, and all others wait behind it: it gives up soon, and tries again. */
async function unblocked<T>(dialect: TableDialect, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + maxTryMs; ; await sleep(betweenTriesMs)) {
    try {
      return await work();
    } catch (error) {
      if (!dialect.isBlocked(error)) throw error;
      if (Date.now() > until)
        throw new OperatorError(
          "the tables are used by transactions that do not end; nothing was changed: end them, then migrate again",
        );
    }
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
  /** Whether it runs after the transaction, by itself. */
  readonly isApart: boolean;
  /** Whether it only removes what the declarations do not need. */
  readonly isRemoval: boolean;
  run(session: Session, inTransaction: InTransaction): Promise<unknown>;
}

type InTransaction = (work: (session: Session) => Promise<void>) => Promise<void>;

function textsOf(steps: readonly Step[]): string[] {
  return steps.map((step) => step.text);
}

function sqlStep(
  dialect: Dialect,
  query: RawBuilder<unknown>,
  { isApart = false, isRemoval = false, undo }: StepOptions = {},
): Step {
  const { sql: text } = compile(dialect.builder, query);
  const undoText = undo && compile(dialect.builder, undo).sql;
  return { text, isApart, isRemoval, run: (session) => runSql(session, text, undoText) };
}

interface StepOptions {
  readonly isApart?: boolean;
  readonly isRemoval?: boolean;
  /** Removes what is left of a step that failed. */
  readonly undo?: RawBuilder<unknown>;
}

async function runSql(session: Session, text: string, undo: string | undefined): Promise<void> {
  try {
    await session.query({ sql: text, bind: () => [] }, undefined);
  } catch (error) {
    if (undo !== undefined) await session.query({ sql: undo, bind: () => [] }, undefined);
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
  isServing: boolean,
): Promise<Step[]> {
  const steps = (queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(dialect, query, options));
  const apart = { isApart: tables.isConcurrent };
  if (!existing)
    return [...steps(tables.create(table)), ...steps(table.search ? tables.createSearch(table) : [], apart)];
  refuseDataLoss(table, existing, isServing);
  refuseOtherReferences(table, existing);
  const added = table.columns.filter((column) => !existing.columns.has(column.name));
  await refuseMissingValues(session, table, added);
  const rebuilt = tables.rebuild(table, added);
  const isSearchKept =
    !rebuilt && (hasSearchOf(table, existing) || (isServing && existing.searches.size > 0));
  const dropped = isSearchKept ? [] : tables.dropSearch(table, existing);
  return [
    ...steps(dropped, { ...apart, isRemoval: true }),
    ...(rebuilt
      ? steps(rebuilt)
      : [
          ...steps([...tables.addColumns(table, added), ...dropNotNullSteps(table, existing)]),
          ...indexSteps(dialect, tables, table, existing),
        ]),
    ...(isSearchKept || !table.search
      ? []
      : [
          backfillSearchStep(dialect, table, table.search.columns, apart.isApart),
          ...steps(tables.createSearch(table), apart),
        ]),
  ];
}

function hasSearchOf({ search }: Table, { searches }: ExistingTable): boolean {
  return search ? searches.has(search.index) : searches.size === 0;
}

/** What a column refers to is checked on every write; rows that stand already were not checked against another table. */
function refuseOtherReferences(table: Table, existing: ExistingTable): void {
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

async function refuseMissingValues(session: Session, table: Table, added: readonly Column[]): Promise<void> {
  const missing = added.find((column) => !column.isNullable && column.defaultValue === undefined);
  if (!missing) return;
  const rows = await session.query(
    { sql: `select 1 from "${table.name}" limit 1`, bind: () => [] },
    undefined,
  );
  if (rows.length === 0) return;
  throw new OperatorError(
    `${missing.from}: the rows of ${table.name} need a value for it; give it a default or make it optional`,
  );
}

/** Columns that need no value any more; that of the search words stays, for processes that still fill it. */
function dropNotNullSteps(table: Table, existing: ExistingTable): RawBuilder<unknown>[] {
  const optional = table.columns.filter(({ isNullable }) => isNullable).map(({ name }) => name);
  const isFilled = table.search || existing.columns.get(searchColumn)?.hasDefault;
  return [...optional, ...(isFilled ? [] : [searchColumn])]
    .filter((name) => existing.columns.get(name)?.isNullable === false)
    .map((name) => sql`alter table ${sql.table(table.name)} alter column ${sql.ref(name)} drop not null`);
}

function backfillSearchStep(
  dialect: Dialect,
  table: Table,
  columns: readonly string[],
  isApart: boolean,
): Step {
  return {
    text: `-- the search words of ${table.name} are made anew from ${columns.join(", ")}`,
    isApart,
    isRemoval: false,
    run: (_session, inTransaction) => backfillSearch(dialect, inTransaction, table, columns),
  };
}

/** @param isServing whether columns that a newer version has added, or made optional, are left to it */
function refuseDataLoss(table: Table, existing: ExistingTable, isServing: boolean): void {
  const declared = new Map(table.columns.map((column) => [column.name, column]));
  for (const [name, { type, isNullable, hasDefault }] of existing.columns) {
    const column = declared.get(name);
    const columnName = `${table.name}.${name}`;
    if (!column && name === searchColumn) continue;
    if (!column && isServing && (isNullable || hasDefault)) continue;
    if (!column) {
      throw new OperatorError(
        `the column ${columnName} is no longer declared, and nothing drops data by itself; ${remedyOf(table, existing, name)}`,
      );
    }
    if (column.type !== type) {
      throw new OperatorError(
        `${column.from}: the column ${columnName} holds ${type}, not ${column.type}; declare a new field and copy the values by hand, then drop the column`,
      );
    }
    if (!column.isNullable && isNullable && !isServing && name !== searchColumn) {
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

function indexSteps(dialect: Dialect, tables: TableDialect, table: Table, existing: ExistingTable): Step[] {
  const isApart = tables.isConcurrent;
  const declared = new Set(table.indexes.map((index) => index.name));
  const stale = [...existing.indexes].filter((name) => !declared.has(name));
  const missing = table.indexes.filter((index) => !existing.indexes.has(index.name));
  return [
    ...[...stale, ...existing.brokenIndexes]
      .filter((name) => name.startsWith(indexPrefix))
      .map((name) => sqlStep(dialect, tables.dropIndex(name), { isApart, isRemoval: true })),
    ...missing.map((index) =>
      sqlStep(dialect, tables.addIndex(table, index), {
        isApart,
        ...(isApart && { undo: tables.dropIndex(index.name) }),
      }),
    ),
  ];
}
