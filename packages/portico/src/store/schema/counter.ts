// Kept counts as the database keeps them: a column of the row that counts, and triggers on the counted table that correct
// it in the statement of each write. Every writer runs them, also a process of an earlier version.

import { hash } from "node:crypto";
import type { KeptCount, ResourceModel } from "../../model/model.ts";
import { type Condition, conditionKeys, isComparison } from "../../query/condition.ts";
import { countConditions } from "../../query/count.ts";
import { writtenColumn } from "../update-time.ts";
import { identifier, indexPrefix } from "./index-names.ts";
import type { DatabaseName } from "./table.ts";

export interface Counter {
  /** The beginning of the names of its triggers. It changes with what is counted. */
  readonly name: string;
  /** The table whose rows are counted, their resource, and the column that refers to the row that counts them. */
  readonly table: string;
  readonly counted: ResourceModel;
  readonly reference: string;
  /** The table of the rows that count, and the column of the number. */
  readonly target: string;
  readonly column: string;
  readonly conditions: readonly Condition[];
}

/** The counters of a database that exist: whether all rows were counted, by name. */
export type ExistingCounters = ReadonlyMap<string, { readonly isComplete: boolean }>;

/** No name of a table begins with an underscore, so that these are the names of no search index. */
const counterPrefix = `${indexPrefix}_count_`;
const hashLength = 8;
/** A suffix follows, and PostgreSQL truncates names after 63 characters. */
const maxSubjectLength = 63 - counterPrefix.length - 1 - hashLength - "_recount".length;
/** The version of the triggers. */
const format = "1";

/** Triggers of a counter. Until all rows are counted, the first has another name, which marks it as incomplete. */
const [complete, incomplete] = ["_insert", "_recount"];
const triggerName = new RegExp(`^(${counterPrefix}.+_[0-9a-f]{${hashLength}})(_[a-z]+)$`);

/** The name of the trigger on inserted rows. */
export function insertTrigger({ name }: Pick<Counter, "name">, isComplete: boolean): string {
  return name + (isComplete ? complete : incomplete);
}

/** Whether a trigger belongs to a counter; that on inserted rows is added to those that exist. */
export function noteCounterTrigger(
  trigger: string,
  counters: Map<string, { readonly isComplete: boolean }> | undefined,
): boolean {
  const [, name, suffix] = triggerName.exec(trigger) ?? [];
  if (name === undefined) return false;
  if (suffix === complete || suffix === incomplete) counters?.set(name, { isComplete: suffix === complete });
  return true;
}

/** Whether a counter counted the same column before its definition changed. */
export function isFormerOf(counter: Counter, name: string): boolean {
  return name !== counter.name && name.slice(0, -hashLength) === counter.name.slice(0, -hashLength);
}

/** The counters of the rows of a resource. */
export function countersOf({ table, keptCounts }: ResourceModel): Counter[] {
  return keptCounts.map((count) => counterOf(table, count));
}

function counterOf(target: string, count: KeptCount): Counter {
  const { resource, reference, attribute } = count;
  const conditions = countConditions(count);
  const { table } = resource;
  const definition = JSON.stringify([format, table, reference.column, ...conditionKeys(conditions)]);
  const digest = hash("sha256", definition, "hex").slice(0, hashLength);
  const subject = identifier(`${target}__${attribute.column}`, maxSubjectLength);
  return {
    name: `${counterPrefix}${subject}_${digest}`,
    ...{
      table,
      counted: resource,
      reference: reference.column,
      target,
      column: attribute.column,
      conditions,
    },
  };
}

/** The columns of the counted rows that a statement sets if it changes what is counted. */
export function watchedColumns(
  database: DatabaseName,
  { counted, reference, conditions }: Counter,
): readonly string[] {
  const columns = [reference, ...conditions.flatMap(columnsIn)];
  return [...new Set(columns.map((column) => writtenColumn(database, counted, column)))];
}

function columnsIn(condition: Condition): readonly string[] {
  if (isComparison(condition)) return [condition.attribute.column];
  return condition.conditions.flatMap(columnsIn);
}
