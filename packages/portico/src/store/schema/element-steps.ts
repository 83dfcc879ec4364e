// The steps that bring the indexes of elements of a table to the declared ones. An earlier version that still serves filters
// by lists that this version does not filter by, so their indexes are dropped last, by the contraction.

import { type RawBuilder, sql } from "kysely";
import { createElementState, fillElements } from "./element-fill.ts";
import { elementStateTable } from "./element-table.ts";
import type { Planning } from "./planning.ts";
import { rowStep, type Step, type StepOptions, sqlStep } from "./step.ts";
import type { ElementIndex, Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface ElementSteps {
  /** Before the table is changed. */
  readonly first: readonly Step[];
  /** After all tables exist. */
  readonly last: readonly Step[];
}

export function elementSteps(
  { store, tables, drops }: Planning,
  table: Table,
  existing: ReadonlyMap<string, ExistingTable>,
): ElementSteps {
  const declared = table.elementIndexes ?? [];
  const found = existing.get(table.name);
  const steps = (queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(store.dialect, "index", query, options));
  if (!found)
    return { first: [], last: declared.flatMap((each) => steps(tables.createElementTriggers(each))) };
  const droppedColumns = drops.columns.get(table.name) ?? new Set<string>();
  const isRebuilt = tables.rebuild(table, [], found, droppedColumns) !== undefined;
  const unneeded = [...found.elementIndexes].filter(([name]) => !declared.some((each) => each.name === name));
  const drop = (name: string): RawBuilder<unknown>[] => [
    ...tables.dropElementTriggers(table.name, name),
    ...[elementStateTable({ name }), name]
      .filter((each) => existing.has(each))
      .map((each) => sql`drop table ${sql.table(each)}`),
  ];
  const isDropped = ([, list]: readonly [string, string]): boolean => droppedColumns.has(list);
  const atLast = { isContraction: true, isRemoval: true, isApart: true, isLocking: true };
  return {
    first: unneeded.filter(isDropped).flatMap(([name]) => steps(drop(name), { isRemoval: true })),
    last: [
      ...declared.flatMap((index) => addedIndex(index)),
      ...unneeded.filter((each) => !isDropped(each)).flatMap(([name]) => steps(drop(name), atLast)),
    ],
  };

  function addedIndex(index: ElementIndex): Step[] {
    const isNew = !found!.elementIndexes.has(index.name);
    const state = elementStateTable(index);
    const created = isNew || isRebuilt ? steps(tables.createElementTriggers(index)) : [];
    if (!isNew && !existing.has(state)) return created;
    const fill = rowStep(
      "index",
      `index the elements of ${index.table}.${index.list}`,
      (own, inTransaction, report) => fillElements(store.dialect, own, inTransaction, index, report),
      { isApart: true },
    );
    return [
      ...(existing.has(state) ? [] : steps([createElementState(index)])),
      ...created,
      fill,
      ...steps([sql`drop table ${sql.table(state)}`], { isApart: true, isLocking: true }),
    ];
  }
}
