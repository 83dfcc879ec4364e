// The steps that bring one table from its existing schema to the declared one.

import type { RawBuilder } from "kysely";
import { addedColumns, optionalColumns, requiredColumns } from "./column-steps.ts";
import { withoutColumns } from "./drop.ts";
import { indexPrefix, uniqueIndexPrefix } from "./index-names.ts";
import type { Planning } from "./planning.ts";
import { refuseDataLoss, refuseOtherReferences } from "./refusals.ts";
import { searchSteps } from "./search-steps.ts";
import { type Step, type StepKind, type StepOptions, sqlStep } from "./step.ts";
import type { Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

/**
 * @param hasRecord as of `searchSteps`
 * @throws OperatorError for a change that could lose data
 */
export async function tableSteps(
  planning: Planning,
  table: Table,
  found: ExistingTable | undefined,
  hasRecord: boolean,
): Promise<Step[]> {
  const { store, tables, drops } = planning;
  const steps = (kind: StepKind, queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(store.dialect, kind, query, options));
  if (!found) {
    const search = table.search ? tables.createSearch(table) : [];
    return [
      ...steps("table", tables.create(table)),
      ...steps("search", search, { isApart: tables.isConcurrent }),
    ];
  }
  const droppedColumns = drops.columns.get(table.name) ?? new Set();
  const existing = withoutColumns(found, droppedColumns);
  refuseDataLoss(planning, table, existing);
  refuseOtherReferences(table, existing);
  const added = await addedColumns(planning, table, existing);
  const rebuilt = tables.rebuild(table, added, found, droppedColumns);
  const search = await searchSteps(planning, table, existing, hasRecord, rebuilt !== undefined);
  const columns = [...tables.addColumns(table, added), ...optionalColumns(table, existing)];
  return [
    ...search.first,
    ...(rebuilt
      ? steps("table", rebuilt)
      : [
          ...steps("drop", tables.dropColumns(table, droppedColumns, found)),
          ...steps("column", columns),
          ...indexSteps(planning, table, existing),
        ]),
    ...(await requiredColumns(planning, table, existing)),
    ...search.last,
  ];
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
        // Otherwise writers would wait for all of them. A unique one can fail, and then nothing is to be changed.
        isApart: isApart || !index.isUnique,
        isLocking: !isApart,
        index: { name: index.name, table: table.name },
        ...(isApart && { undo: tables.dropIndex(index.name) }),
      }),
    ),
    ...unneeded.map((name) => drop(name, !name.startsWith(`${uniqueIndexPrefix}${table.name}_`))),
  ];
}
