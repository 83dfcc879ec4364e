// The steps that bring the search index of a table to the declared fields. An earlier version that still serves searches on
// meanwhile, and keeps writing rows with the words of its own fields: the contraction corrects them.

import type { RawBuilder } from "kysely";
import { backfillSearch, createRecord, dropRecord, recordedWords } from "../search/backfill.ts";
import type { Planning } from "./planning.ts";
import { rowStep, type Step, type StepOptions, sqlStep } from "./step.ts";
import type { Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface SearchSteps {
  /** Before the table is rebuilt. */
  readonly first: readonly Step[];
  /** After its columns have been added. */
  readonly last: readonly Step[];
}

/**
 * @param hasRecord whether the words have changed since the last contraction
 * @param isRebuilt whether the table is recreated, without its search index
 */
export async function searchSteps(
  { store, session, tables, isServing, isContraction }: Planning,
  table: Table,
  existing: ExistingTable,
  hasRecord: boolean,
  isRebuilt: boolean,
): Promise<SearchSteps> {
  const { search } = table;
  const { searches } = existing;
  const steps = (queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(store.dialect, "search", query, options));
  const atLast = { isContraction: true, isRemoval: true };
  const unneeded = tables.unneededSearch(table, existing).map(({ query, index }) =>
    sqlStep(store.dialect, "search", query, {
      ...atLast,
      isApart: tables.isConcurrent,
      ...(index !== undefined && { index: { name: index, table: table.name } }),
    }),
  );
  const forget = steps([dropRecord(table.name)], { ...atLast, isApart: true, isLocking: true });
  if (!search) {
    const isInUse = searches.size > 0;
    // Rows of this version have no words, should the fields be searched again.
    const isRecorded = isInUse && !hasRecord && !isContraction;
    const record = isRecorded ? steps([createRecord(table.name)], { isRemoval: true }) : [];
    const forgotten = hasRecord ? forget : [];
    const dropped = isRebuilt ? steps(tables.dropSearch(table, existing), { isRemoval: true }) : unneeded;
    return {
      first: isRebuilt ? dropped : [],
      last: [...record, ...(isRebuilt ? [] : dropped), ...forgotten],
    };
  }
  const recorded = hasRecord ? await recordedWords(store.dialect, session, table.name) : undefined;
  const isOwn = recorded?.index === search.index;
  const lacksIndex = isServing ? searches.size === 0 : !searches.has(search.index);
  const lacksWords = isOwn ? !recorded!.isComplete : lacksIndex || (hasRecord && !isServing);
  const { first, last } =
    lacksIndex && !isRebuilt ? tables.addSearch(table, existing) : { first: [], last: [] };
  const backfill = { table, ...search, isContraction, isCorrection: !lacksWords };
  const recompute = rowStep(
    "search",
    `recompute the search words of ${table.name} from ${search.columns.join(", ")}`,
    (own, inTransaction, report) => backfillSearch(store.dialect, own, inTransaction, backfill, report),
    { isApart: true, isContraction: !lacksWords },
  );
  const isPending = lacksWords || (hasRecord && !isServing);
  return {
    first: isRebuilt ? steps(tables.dropSearch(table, existing), { isRemoval: true }) : [],
    last: [
      ...(lacksWords && !hasRecord ? steps([createRecord(table.name)]) : []),
      ...(isRebuilt
        ? steps(tables.createSearch(table))
        : steps([...first, ...tables.recordOrder(table, existing)])),
      ...(isPending ? [recompute] : []),
      ...steps(last, { isApart: true }),
      ...(isServing ? [] : unneeded),
      ...(isPending && !isServing ? forget : []),
    ],
  };
}
