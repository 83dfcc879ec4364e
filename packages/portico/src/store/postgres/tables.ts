// Tables in PostgreSQL. One object implements `TableDialect`, so the file is longer than most.

import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { Problem } from "../../errors.ts";
import type { Session } from "../database.ts";
import { noteCounterTrigger } from "../schema/counter.ts";
import { columnDefinition, createIndex, defaultOf, foreignKeyDefinition } from "../schema/definition.ts";
import { elementTriggerPrefix } from "../schema/element-table.ts";
import { addElements, isChanged, removeElements, watchedColumns } from "../schema/element-triggers.ts";
import { identifier, indexPrefix } from "../schema/index-names.ts";
import type { Column, ColumnType, ForeignKey, Table } from "../schema/table.ts";
import { TableDescription, type TableDialect } from "../schema/tables.ts";
import { completeCounter, createCounter, dropCounter } from "./counter-triggers.ts";
import { postgresDialect, searchVector } from "./dialect.ts";
import { codeOf } from "./failures.ts";

/** How long a change of a table waits for a lock: requests for the table queue behind it. */
const maxLockMs = 500;
/** How often to retry the lock while another process migrates. */
const lockRetryMs = 100;
/** The key of the advisory lock of migrations: an arbitrary number. */
const migrationLock = 7_016_400;

const typeNames: Readonly<Record<string, ColumnType>> = {
  text: "text",
  bigint: "integer",
  integer: "tenant",
  "double precision": "number",
  boolean: "boolean",
  "timestamp with time zone": "timestamp",
  json: "json",
};

/** The names of search indexes (`schema/model-tables.ts`). */
const searchName = new RegExp(`^${indexPrefix}.*_search_[0-9a-f]{8}$`);

export const postgresTables: TableDialect = {
  before: [],
  after: [],
  nullsFirst: sql` nulls first`,
  nullsLast: sql` nulls last`,

  isConcurrent: true,

  async lock(session) {
    // Not `pg_advisory_lock`: a statement that waits for the lock holds a snapshot, and `create index concurrently` of the
    // process that holds the lock waits for all older snapshots.
    while ((await rows(session, `select pg_try_advisory_lock(${migrationLock})::text`))[0]![0] !== "true")
      await sleep(lockRetryMs);
    // The lock ends with the session.
    return () => {};
  },

  async limitLockWait(session) {
    await rows(session, `set local lock_timeout = ${maxLockMs}`);
  },

  isBlocked(error) {
    const code = codeOf(error instanceof Problem ? error.cause : error);
    return code === "55P03" || code === "40P01";
  },

  // SQLSTATE of a violated `check` and `not null`.
  lacksValue: (error) => ["23514", "23502"].includes(String(codeOf(error))),

  // In a fixed order, which the steps of a plan have too.
  async existing(session) {
    const tables = new Map<string, TableDescription>();
    const columns = await rows(
      session,
      `select c.table_name, c.column_name,
         case when c.is_identity = 'YES' then 'sequence' when c.column_default like '%pg_current_xact_id()%' then 'transaction'
           when c.data_type = 'numeric' then 'decimal_' || c.numeric_scale else c.data_type end, c.is_nullable,
         (c.column_default is not null or c.is_identity = 'YES')::text
       from information_schema.columns c where c.table_schema = current_schema()
       order by c.table_name, c.ordinal_position`,
    );
    for (const [table, column, type, isNullable, hasDefault] of columns) {
      const description = tables.get(table!) ?? new TableDescription();
      description.columns.set(column!, {
        type: typeNames[type!] ?? type!,
        isNullable: isNullable === "YES",
        hasDefault: hasDefault === "true",
      });
      tables.set(table!, description);
    }
    const indexes = await rows(
      session,
      `select t.relname, i.relname, x.indisvalid::text from pg_index x
       join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
       where i.relnamespace = current_schema()::regnamespace order by i.relname`,
    );
    for (const [table, index, isValid] of indexes) {
      const description = tables.get(table!);
      if (isValid !== "true") description?.brokenIndexes.add(index!);
      else (searchName.test(index!) ? description?.searches : description?.indexes)?.add(index!);
    }
    const triggers = await rows(
      session,
      `select c.relname, t.tgname, a.attname from pg_trigger t
       join pg_class c on c.oid = t.tgrelid join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = t.tgattr[0]
       where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal and t.tgname like '${elementTriggerPrefix}%' order by t.tgname`,
    );
    const counters = await rows(
      session,
      `select c.relname, t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
       where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal order by t.tgname`,
    );
    for (const [table, name] of counters) noteCounterTrigger(name!, tables.get(table!)?.counters);
    for (const [table, name, list] of triggers)
      tables.get(table!)?.elementIndexes.set(name!.slice(elementTriggerPrefix.length), list!);
    const references = await rows(
      session,
      `select f.conrelid::regclass::text, a.attname, f.confrelid::regclass::text, f.convalidated::text
       from pg_constraint f join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any(f.conkey)
       where f.contype = 'f' and f.connamespace = current_schema()::regnamespace and a.attname <> 'tenant_no' order by 1, a.attnum`,
    );
    for (const [table, column, target, isChecked] of references) {
      const description = tables.get(table!);
      description?.references.set(column!, target!);
      if (isChecked !== "true") description?.uncheckedReferences.add(column!);
    }
    return tables;
  },

  create(table) {
    const lines = [
      ...table.columns.map((column) => {
        const definition = columnDefinition(postgresDialect.columnType[column.type], column);
        return column.hasDefault ? sql`${definition}${defaultOf(column)}` : definition;
      }),
      sql`primary key (${sql.join(table.primaryKey.map((name) => sql.ref(name)))})`,
    ];
    return [
      sql`create table ${sql.table(table.name)} (${sql.join(lines)})`,
      ...table.indexes.map((index) => createIndex(postgresTables, table, index)),
    ];
  },

  addColumns: (table, columns) => columns.flatMap((column) => addColumn(table, column)),

  addReferences(table, existing) {
    const name = sql.table(table.name);
    const lacking = table.foreignKeys.filter(({ column }) => !existing?.references.has(column));
    if (!existing)
      return {
        added: lacking.map((foreignKey) => sql`alter table ${name} add ${foreignKeyDefinition(foreignKey)}`),
        checked: [],
      };
    const constraint = ({ column }: ForeignKey): RawBuilder<unknown> =>
      sql.ref(identifier(`${indexPrefix}${table.name}_${column}_fkey`));
    return {
      // Validated separately: checking all rows in this statement would block writers.
      added: lacking.map(
        (foreignKey) =>
          sql`alter table ${name} add constraint ${constraint(foreignKey)} ${foreignKeyDefinition(foreignKey)} not valid`,
      ),
      checked: table.foreignKeys
        .filter((each) => lacking.includes(each) || existing.uncheckedReferences.has(each.column))
        .map((each) => sql`alter table ${name} validate constraint ${constraint(each)}`),
    };
  },

  addIndex: (table, index) => createIndex(postgresTables, table, index, sql`concurrently `),
  dropIndex: (name) => sql`drop index concurrently if exists ${sql.ref(name)}`,

  async indexSizes(session, names) {
    const sizes = await session.query(
      {
        sql: `select relname, pg_relation_size(oid)::text from pg_class
              where relnamespace = current_schema()::regnamespace and relname in (select json_array_elements_text($1::json))`,
        bind: () => [JSON.stringify(names)],
      },
      undefined,
    );
    return new Map(sizes.map(([name, size]) => [String(name), Number(size)]));
  },

  rebuild: () => undefined,

  // PostgreSQL drops indexes and foreign keys with their columns.
  dropColumns: (table, columns) =>
    [...columns].map((name) => sql`alter table ${sql.table(table.name)} drop column ${sql.ref(name)}`),

  createElementTriggers(index) {
    const name = sql.ref(elementTriggerPrefix + index.name);
    const remove = removeElements(postgresDialect, index, "old");
    // `json` has no equality of its own.
    const unchanged = sql`if tg_op = 'UPDATE' then if not (${isChanged(index, "is distinct from", "::text")}) then return null; end if; end if`;
    const body = sql`#variable_conflict use_column
      begin ${unchanged}; if tg_op <> 'INSERT' then ${remove}; end if;
      if tg_op <> 'DELETE' then ${addElements(postgresDialect, index, "new")}; end if; return null; end`;
    return [
      sql`create or replace function ${name}() returns trigger language plpgsql as $$ ${body} $$`,
      sql`create trigger ${name} after insert or delete or update of ${watchedColumns(index)} on ${sql.table(index.table)} for each row execute function ${name}()`,
    ];
  },

  ...{ createCounter, completeCounter, dropCounter },

  dropElementTriggers(table, index) {
    const name = sql.ref(elementTriggerPrefix + index);
    return [
      sql`drop trigger if exists ${name} on ${sql.table(table)}`,
      sql`drop function if exists ${name}()`,
    ];
  },

  // In one statement, because they may refer to each other.
  dropTables(tables) {
    const indexes = tables.flatMap(({ existing }) => [...existing.elementIndexes.keys()]);
    const names = [...tables.map(({ name }) => name), ...indexes];
    if (names.length === 0) return [];
    return [
      sql`drop table ${sql.join(names.map((name) => sql.table(name)))}`,
      ...indexes.map((index) => sql`drop function ${sql.ref(elementTriggerPrefix + index)}()`),
    ];
  },

  // `set not null` alone would scan all rows under an exclusive lock. It trusts a constraint that has been validated, which
  // does not hold up writers.
  requireColumn(table, column) {
    const alter = sql`alter table ${sql.table(table)}`;
    const constraint = sql.ref(identifier(`${indexPrefix}${table}_${column}_required`));
    return [
      {
        query: sql`${alter} drop constraint if exists ${constraint}, add constraint ${constraint} check (${sql.ref(column)} is not null) not valid`,
        isLocking: true,
      },
      { query: sql`${alter} validate constraint ${constraint}`, isLocking: false },
      { query: sql`${alter} alter column ${sql.ref(column)} set not null`, isLocking: true },
      { query: sql`${alter} drop constraint ${constraint}`, isLocking: true },
    ];
  },

  // PostgreSQL adds new rows to a list, which every search reads, and moves them into the index when the list is full. By
  // default it may have 4 MB, which takes a search 3 ms. With 256 KB, inserts are as fast.
  createSearch(table) {
    return [
      sql`create index concurrently ${sql.ref(table.search!.index)} on ${sql.table(table.name)} using gin ((${searchVector()})) with (gin_pending_list_limit = 256)`,
    ];
  },

  addSearch: (table) => ({ first: [], last: postgresTables.createSearch(table) }),

  unneededSearch(table, existing) {
    const names = [...existing.searches].filter((name) => name !== table.search?.index);
    return names.map((name) => ({ query: postgresTables.dropIndex(name), index: name }));
  },

  // The matches of a search are sorted.
  recordOrder: () => [],

  dropSearch: () => [],
};

function addColumn(table: Table, column: Column): RawBuilder<unknown>[] {
  if (column.type === "transaction") {
    // Existing rows get the constant, which precedes all transactions, and rows of any later process its transaction.
    const [name, added] = [sql.table(table.name), sql.ref(column.name)];
    return [
      sql`alter table ${name} add column ${added} bigint not null default 0`,
      sql`alter table ${name} alter column ${added} set default pg_current_xact_id()::text::bigint`,
    ];
  }
  const definition = columnDefinition(postgresDialect.columnType[column.type], column);
  return [sql`alter table ${sql.table(table.name)} add column ${definition}${defaultOf(column)}`];
}

async function rows(session: Session, text: string): Promise<readonly (readonly string[])[]> {
  // Every column of these catalogue queries is a text.
  return (await session.query({ sql: text, bind: () => [] }, undefined)) as readonly (readonly string[])[];
}
