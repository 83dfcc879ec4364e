// The triggers that keep a count, in PostgreSQL. A statement that writes several rows adds up what it changes, and locks the
// rows that count in the order of their ids, so that two such statements cannot deadlock.

import { type RawBuilder, sql } from "kysely";
import { constantConditions } from "../compile/constant-conditions.ts";
import { type Counter, insertTrigger, watchedColumns } from "../schema/counter.ts";
import { postgresDialect } from "./dialect.ts";

export function createCounter(counter: Counter, isComplete: boolean): RawBuilder<unknown>[] {
  const { name, table, conditions, target, column } = counter;
  const isCounted = (row: string): RawBuilder<unknown> =>
    constantConditions(postgresDialect, row, conditions);
  const on = sql`on ${sql.table(table)}`;
  const run = sql`execute function ${sql.ref(name)}()`;
  const reference = sql.ref(counter.reference);
  const [number, counting] = [sql.ref(column), sql.table(target)];
  /** What the rows of a `from` item change, or a row of the trigger. */
  const changes = (row: string, sign: string, from: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select ${sql.raw(row)}.tenant_no, ${sql.raw(row)}.${reference} as id, ${sql.raw(sign)}1 as difference ${from}
      where ${isCounted(row)} and ${sql.raw(row)}.${reference} is not null`;
  const correct = (all: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`for changed in select tenant_no, id, sum(difference) as difference from (${all}) as changes
        group by tenant_no, id having sum(difference) <> 0 order by tenant_no, id loop
        update ${counting} set ${number} = ${number} + changed.difference where tenant_no = changed.tenant_no and id = changed.id;
      end loop`;
  const none = sql``;
  // A column may have the name of a variable: `old`, `changed`.
  return [
    sql`create or replace function ${sql.ref(name)}() returns trigger language plpgsql as $$
      #variable_conflict use_column
      declare changed record;
      begin
        if tg_op = 'INSERT' then ${correct(changes("r", "", sql`from inserted as r`))};
        elsif tg_op = 'DELETE' then ${correct(changes("r", "-", sql`from deleted as r`))};
        else ${correct(sql`${changes("old", "-", none)} union all ${changes("new", "", none)}`)};
        end if;
        return null;
      end $$`,
    sql`create trigger ${sql.ref(insertTrigger(counter, isComplete))} after insert ${on} referencing new table as inserted for each statement ${run}`,
    sql`create trigger ${sql.ref(`${name}_delete`)} after delete ${on} referencing old table as deleted for each statement ${run}`,
    sql`create trigger ${sql.ref(`${name}_update`)} after update of ${sql.join(watchedColumns("postgres", counter).map((each) => sql.ref(each)))} ${on}
      for each row when (old.${reference} is distinct from new.${reference} or ${isCounted("old")} <> ${isCounted("new")}) ${run}`,
  ];
}

/** Its triggers are dropped with the function. */
export function dropCounter(name: string): RawBuilder<unknown>[] {
  return [sql`drop function if exists ${sql.ref(name)}() cascade`];
}

/** Marks a counter as complete. */
export function completeCounter(counter: Counter): RawBuilder<unknown>[] {
  const [marked, complete] = [insertTrigger(counter, false), insertTrigger(counter, true)];
  return [
    sql`alter trigger ${sql.ref(marked)} on ${sql.table(counter.table)} rename to ${sql.ref(complete)}`,
  ];
}
