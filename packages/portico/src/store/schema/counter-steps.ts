// The steps that bring the triggers of kept counts to the declared ones.

import type { RawBuilder } from "kysely";
import { type Counter, isFormerOf } from "./counter.ts";
import { recount } from "./counter-fill.ts";
import type { Planning } from "./planning.ts";
import { rowStep, type Step, type StepOptions, sqlStep } from "./step.ts";
import type { Table } from "./table.ts";
import type { ExistingTable } from "./tables.ts";

export interface CounterSteps {
  /** Before any table is changed. */
  readonly first: readonly Step[];
  /** After all tables exist. */
  readonly last: readonly Step[];
}

/**
 * @param isRebuilt whether a table is recreated, without its triggers, and the triggers of others may not name it meanwhile
 */
export function counterSteps(
  { store, tables, drops, isServing }: Planning,
  declared: readonly Table[],
  existing: ReadonlyMap<string, ExistingTable>,
  isRebuilt: (table: string) => boolean,
): CounterSteps {
  const counters = declared.flatMap((table) => table.counters ?? []);
  const found = new Map([...existing.values()].flatMap((table) => [...table.counters]));
  const steps = (queries: readonly RawBuilder<unknown>[], options?: StepOptions): Step[] =>
    queries.map((query) => sqlStep(store.dialect, "count", query, options));
  const isDropping = drops.tables.length > 0 || drops.columns.size > 0;
  const first: Step[] = [];
  const last: Step[] = [];
  for (const counter of counters) {
    const before = found.get(counter.name);
    const former = [...found.keys()].filter((name) => isFormerOf(counter, name));
    // A newer version may count something else by now.
    if (isServing && former.length > 0) continue;
    const isNew = !before || isRebuilt(counter.table) || isRebuilt(counter.target);
    if (before && isNew) first.push(...steps(tables.dropCounter(counter.name)));
    first.push(...former.flatMap((name) => steps(tables.dropCounter(name))));
    const isComplete = before?.isComplete ?? !(existing.has(counter.target) && existing.has(counter.table));
    if (isNew) last.push(...steps(tables.createCounter(counter, isComplete)));
    if (!isComplete) last.push(...recounted(counter));
  }
  // An earlier version that still serves shows the number, so triggers are dropped by the contraction, or before what
  // they name.
  const isDeclared = (name: string): boolean =>
    counters.some((counter) => counter.name === name || isFormerOf(counter, name));
  const unneeded = [...found.keys()].filter((name) => !isDeclared(name));
  const dropped = unneeded.flatMap((name) =>
    steps(tables.dropCounter(name), { isRemoval: true, isContraction: !isDropping }),
  );
  return {
    first: [...(isDropping ? dropped : []), ...first],
    last: [...last, ...(isDropping ? [] : dropped)],
  };

  function recounted(counter: Counter): Step[] {
    const fill = rowStep(
      "count",
      `count the rows of ${counter.table} for ${counter.target}.${counter.column}`,
      (own, inTransaction, report) => recount(store.dialect, own, inTransaction, counter, report),
      { isApart: true },
    );
    const complete = rowStep(
      "count",
      `mark ${counter.target}.${counter.column} as counted`,
      async (_, inTransaction) => {
        const statements = steps(tables.completeCounter(counter));
        await inTransaction(async (part) => {
          for (const each of statements)
            await each.run(
              part,
              (work) => work(part),
              () => {},
            );
        });
      },
      { isApart: true, isLocking: true },
    );
    return [fill, complete];
  }
}
