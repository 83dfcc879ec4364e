// The triggers that keep a count, in SQLite. It has one writer at a time, so that no number is corrected twice at once.

import { type RawBuilder, sql } from "kysely";
import { constantConditions } from "../compile/constant-conditions.ts";
import { type Counter, insertTrigger, watchedColumns } from "../schema/counter.ts";
import { sqliteDialect } from "./dialect.ts";

export function createCounter(counter: Counter, isComplete: boolean): RawBuilder<unknown>[] {
  const { name, table, conditions } = counter;
  const isCounted = (row: string): RawBuilder<unknown> => constantConditions(sqliteDialect, row, conditions);
  const on = sql`on ${sql.table(table)}`;
  const trigger = (triggerName: string): RawBuilder<unknown> =>
    sql`create trigger ${sql.ref(triggerName)} after`;
  const watched = watchedColumns("sqlite", counter).map((each) => sql.ref(each));
  const reference = sql.ref(counter.reference);
  return [
    sql`${trigger(insertTrigger(counter, isComplete))} insert ${on} when ${isCounted("new")} begin ${add(counter, "new", sql`1`)}; end`,
    sql`${trigger(`${name}_delete`)} delete ${on} when ${isCounted("old")} begin ${add(counter, "old", sql`-1`)}; end`,
    sql`${trigger(`${name}_update`)} update of ${sql.join(watched)} ${on}
      when old.${reference} is not new.${reference} or ${isCounted("old")} <> ${isCounted("new")}
      begin ${add(counter, "old", sql`-${isCounted("old")}`)}; ${add(counter, "new", isCounted("new"))}; end`,
  ];
}

/** Adds to the number of the row to which the row `row` refers, if any. */
function add(
  { target, column, reference }: Counter,
  row: string,
  difference: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [table, number] = [sql.table(target), sql.ref(column)];
  return sql`update ${table} set ${number} = ${number} + (${difference})
    where tenant_no = ${sql.raw(row)}.tenant_no and id = ${sql.raw(row)}.${sql.ref(reference)}`;
}

export function dropCounter(name: string): RawBuilder<unknown>[] {
  return ["_insert", "_recount", "_delete", "_update"].map(
    (suffix) => sql`drop trigger if exists ${sql.ref(name + suffix)}`,
  );
}

/** Marks a counter as complete. */
export function completeCounter(counter: Counter): RawBuilder<unknown>[] {
  return [...dropCounter(counter.name), ...createCounter(counter, true)];
}
