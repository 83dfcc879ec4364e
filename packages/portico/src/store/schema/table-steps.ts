// The steps that bring one table from its existing schema to the declared one.

import type { RawBuilder } from "kysely";
import { backfillSearch } from "../search/backfill.ts";
import { addedColumns, optionalColumns, requiredColumns } from "./column-steps.ts";
import type { Table } from "./ddl.ts";
import { withoutColumns } from "./drop.ts";
import { indexPrefix, uniqueIndexPrefix } from "./index-names.ts";
import type { Planning } from "./planning.ts";
import { refuseDataLoss, refuseOtherReferences } from "./refusals.ts";
import { joinedStep, rowStep, type Step, type StepKind, type StepOptions, sqlStep } from "./step.ts";
import type { ExistingTable } from "./tables.ts";

/** @throws OperatorError for a change that could lose data */
export async function tableSteps(
  planning: Planning,
  table: Table,
  found: ExistingTable | undefined,
): Promise<Step[]> {
  const { store, tables, isServing, drops } = planning;
  const steps = (kind: StepKind, queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(store.dialect, kind, query, options));
  const apart = { isApart: tables.isConcurrent };
  if (!found) {
    const search = table.search ? tables.createSearch(table) : [];
    return [...steps("table", tables.create(table)), ...steps("search", search, apart)];
  }
  const droppedColumns = drops.columns.get(table.name) ?? new Set();
  const existing = withoutColumns(found, droppedColumns);
  refuseDataLoss(planning, table, existing);
  refuseOtherReferences(table, existing);
  const added = await addedColumns(planning, table, existing);
  const rebuilt = tables.rebuild(table, added, found, droppedColumns);
  const isSearchUnchanged =
    !rebuilt && (hasSearchOf(table, existing) || (isServing && existing.searches.size > 0));
  const search = searchSteps(planning, table, existing, rebuilt !== undefined);
  const columns = [...tables.addColumns(table, added), ...optionalColumns(table, existing)];
  return [
    ...(isSearchUnchanged ? [] : search.before),
    ...(rebuilt
      ? steps("table", rebuilt)
      : [
          ...steps("drop", tables.dropColumns(table, droppedColumns, found)),
          ...steps("column", columns),
          ...indexSteps(planning, table, existing),
        ]),
    ...(await requiredColumns(planning, table, existing)),
    ...(isSearchUnchanged ? [] : search.after),
  ];
}

interface SearchSteps {
  /** Before the columns are changed. */
  readonly before: readonly Step[];
  readonly after: readonly Step[];
}

/**
 * Brings the search index to the declared fields. On SQLite the words of the rows are recomputed in batches, while an
 * earlier version searches the former index, which is then replaced in one transaction.
 */
function searchSteps(
  planning: Planning,
  table: Table,
  existing: ExistingTable,
  isRebuilt: boolean,
): SearchSteps {
  const { store, tables } = planning;
  const { isConcurrent } = tables;
  const dropped = tables.dropSearch(table, existing);
  const step = (query: RawBuilder<unknown>, isRemoval: boolean): Step =>
    sqlStep(store.dialect, "search", query, { isApart: isConcurrent, isRemoval });
  const drops = dropped.map((query) => step(query, true));
  if (!table.search) return { before: drops, after: [] };
  const backfill = backfillSearchStep(planning, table, table.search.columns, isConcurrent || !isRebuilt);
  const created = tables.createSearch(table);
  if (isConcurrent || isRebuilt)
    return { before: drops, after: [backfill, ...created.map((query) => step(query, false))] };
  const replaced = { isApart: true, isLocking: true };
  return {
    before: [],
    after: [backfill, joinedStep(store.dialect, "search", [...dropped, ...created], replaced)],
  };
}

function hasSearchOf({ search }: Table, { searches }: ExistingTable): boolean {
  return search ? searches.has(search.index) : searches.size === 0;
}

function backfillSearchStep(
  { store }: Planning,
  table: Table,
  columns: readonly string[],
  isApart: boolean,
): Step {
  return rowStep(
    "search",
    `recompute the search words of ${table.name} from ${columns.join(", ")}`,
    (_session, inTransaction) => backfillSearch(store.dialect, inTransaction, table, columns),
    { isApart },
  );
}

/**
 * Drops and creates indexes. A process of the previous version reads along indexes that this version does not need, so
 * they are dropped last, by the contraction. A unique index is dropped at once, because this version writes rows that it
 * would refuse.
 */
function indexSteps({ store, tables }: Planning, table: Table, existing: ExistingTable): Step[] {
  const isApart = tables.isConcurrent;
  const declared = new Set(table.indexes.map((index) => index.name));
  const drop = (name: string, isContraction: boolean): Step => {
    const index = { name, table: table.name };
    const options = { isApart, isRemoval: true, isContraction, index };
    return sqlStep(store.dialect, "index", tables.dropIndex(name), options);
  };
  const ownIndexes = (names: ReadonlySet<string>): string[] =>
    [...names].filter((name) => name.startsWith(indexPrefix));
  const unneeded = ownIndexes(existing.indexes).filter((name) => !declared.has(name));
  const missing = table.indexes.filter((index) => !existing.indexes.has(index.name));
  return [
    ...ownIndexes(existing.brokenIndexes).map((name) => drop(name, false)),
    ...missing.map((index) =>
      sqlStep(store.dialect, "index", tables.addIndex(table, index), {
        isApart,
        index: { name: index.name, table: table.name },
        ...(isApart && { undo: tables.dropIndex(index.name) }),
      }),
    ),
    ...unneeded.map((name) => drop(name, !name.startsWith(`${uniqueIndexPrefix}${table.name}_`))),
  ];
}
