// The steps that bring one table from its existing schema to the declared one.

import { type RawBuilder, sql } from "kysely";
import { OperatorError } from "../../errors.ts";
import { ConstraintError, type Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { backfillSearch } from "../search/backfill.ts";
import { compile } from "../statement.ts";
import { searchColumn, type Table } from "./ddl.ts";
import { indexPrefix, uniqueIndexPrefix } from "./index-names.ts";
import { refuseDataLoss, refuseMissingValues, refuseOtherReferences } from "./refusals.ts";
import type { ExistingTable, TableDialect } from "./tables.ts";

/** A step of a migration: an SQL statement, or work on rows that SQL alone cannot do. */
export interface Step {
  readonly text: string;
  /** Whether it runs after the transaction of the migration, on its own. */
  readonly isApart: boolean;
  /** Whether it only removes an index that the declarations do not need. */
  readonly isRemoval: boolean;
  /** Whether it waits until no process of an earlier version is running, which could need what it removes. */
  readonly isContraction: boolean;
  /** The index that it creates or drops on an existing table. */
  readonly index: { readonly name: string; readonly table: string } | undefined;
  run(session: Session, inTransaction: InTransaction): Promise<unknown>;
}

/** Runs work in a transaction: that of the migration, or one of its own for a step that runs after it. */
type InTransaction = (work: (session: Session) => Promise<void>) => Promise<void>;

/** The SQL texts of steps. */
export function textsOf(steps: readonly Step[]): string[] {
  return steps.map((step) => step.text);
}

export function sqlStep(
  dialect: Dialect,
  query: RawBuilder<unknown>,
  { isApart = false, isRemoval = false, isContraction = false, index, undo }: StepOptions = {},
): Step {
  const { sql: text } = compile(dialect.builder, query);
  const undoText = undo && compile(dialect.builder, undo).sql;
  const run = (session: Session): Promise<void> => runSql(session, text, undoText);
  return { text, isApart, isRemoval, isContraction, index, run };
}

interface StepOptions extends Partial<Omit<Step, "text" | "run">> {
  /** Removes the remains of the step if it fails. */
  readonly undo?: RawBuilder<unknown>;
}

async function runSql(session: Session, text: string, undo: string | undefined): Promise<void> {
  try {
    await session.query({ sql: text, bind: () => [] }, undefined);
  } catch (error) {
    if (undo !== undefined) await session.query({ sql: undo, bind: () => [] }, undefined);
    if (!(error instanceof ConstraintError)) throw error;
    const shared = error.columns.filter((column) => column !== "tenant_no").join(" and ");
    throw new OperatorError(
      `several rows have the same ${shared}; change them first. This statement failed: ${text}`,
    );
  }
}

/** @throws OperatorError for a change that could lose data */
export async function tableSteps(
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
  const isSearchUnchanged =
    !rebuilt && (hasSearchOf(table, existing) || (isServing && existing.searches.size > 0));
  const dropped = isSearchUnchanged ? [] : tables.dropSearch(table, existing);
  return [
    ...steps(dropped, { ...apart, isRemoval: true }),
    ...(rebuilt
      ? steps(rebuilt)
      : [
          ...steps([...tables.addColumns(table, added), ...dropNotNullSteps(table, existing)]),
          ...indexSteps(dialect, tables, table, existing),
        ]),
    ...(isSearchUnchanged || !table.search
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

/** Makes columns optional that need no value any more. The column of search words is one of them once nothing is searched. */
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
    text: `-- recompute the search words of ${table.name} from ${columns.join(", ")}`,
    isApart,
    isRemoval: false,
    isContraction: false,
    index: undefined,
    run: (_session, inTransaction) => backfillSearch(dialect, inTransaction, table, columns),
  };
}

/**
 * Drops and creates indexes. A process of the previous version reads along indexes that this version does not need, so
 * they are dropped last, by the contraction. A unique index is dropped at once, because this version writes rows that it
 * would refuse.
 */
function indexSteps(dialect: Dialect, tables: TableDialect, table: Table, existing: ExistingTable): Step[] {
  const isApart = tables.isConcurrent;
  const declared = new Set(table.indexes.map((index) => index.name));
  const drop = (name: string, isContraction: boolean): Step => {
    const index = { name, table: table.name };
    return sqlStep(dialect, tables.dropIndex(name), { isApart, isRemoval: true, isContraction, index });
  };
  const ownIndexes = (names: ReadonlySet<string>): string[] =>
    [...names].filter((name) => name.startsWith(indexPrefix));
  const unneeded = ownIndexes(existing.indexes).filter((name) => !declared.has(name));
  const missing = table.indexes.filter((index) => !existing.indexes.has(index.name));
  return [
    ...ownIndexes(existing.brokenIndexes).map((name) => drop(name, false)),
    ...missing.map((index) =>
      sqlStep(dialect, tables.addIndex(table, index), {
        isApart,
        index: { name: index.name, table: table.name },
        ...(isApart && { undo: tables.dropIndex(index.name) }),
      }),
    ),
    ...unneeded.map((name) => drop(name, !name.startsWith(`${uniqueIndexPrefix}${table.name}_`))),
  ];
}
