// Tables in SQLite: how they are read, created and changed. One object implements `TableDialect`, so the file is longer
// than most.

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { noteCounterTrigger } from "../schema/counter.ts";
import { createIndex } from "../schema/definition.ts";
import { indexesOn, withoutColumns } from "../schema/drop.ts";
import { elementTriggerPrefix } from "../schema/element-table.ts";
import { addElements, isChanged, removeElements, watchedColumns } from "../schema/element-triggers.ts";
import { indexPrefix } from "../schema/index-names.ts";
import {
  type Column,
  type ColumnType,
  type ForeignKey,
  searchColumn,
  searchTable,
  type Table,
} from "../schema/table.ts";
import { type ExistingTable, TableDescription, type TableDialect } from "../schema/tables.ts";
import { orderTriggerName, recordCreationOrder } from "../search/creation-order.ts";
import { conditionOfTrigger, createDeferral } from "../search/deferral.ts";
import { taggedText } from "../search/index-terms.ts";
import { storedUpdatedAt, updatedAtColumn } from "../update-time.ts";
import { isBusy, isConstraintFailure } from "./connection.ts";
import { completeCounter, createCounter, dropCounter } from "./counter-triggers.ts";
import { sqliteDialect } from "./dialect.ts";
import { lockMigrations } from "./migration-lock.ts";
import {
  addColumn,
  addReferences,
  createTable,
  encodeFill,
  rowNumber,
  storedColumn,
} from "./table-definitions.ts";

const typeNames = new Map<string, string>([
  ...Object.entries(sqliteDialect.columnType).map(([type, name]) => [name, type] as const),
  ["integer", "integer"],
]);

/** The names of the triggers of search indexes (`schema/index-names.ts`). */
export const searchTriggerName = new RegExp(`^${indexPrefix}.*_search_[0-9a-f]{8}(_delete|_update)?$`);

export const sqliteTables: TableDialect = {
  // When a table is recreated, dropping the old one must not delete the rows that refer to it.
  before: ["pragma foreign_keys = off"],
  after: ["pragma foreign_keys = on"],
  nullsFirst: sql``,
  nullsLast: sql``,

  isConcurrent: false,

  async lock(session) {
    const [[file]] = (await rows(session, "select file from pragma_database_list where name = 'main'")) as [
      [string],
    ];
    return lockMigrations(file);
  },

  // The transaction holds the only write lock; it blocks other writers and no readers.
  async limitLockWait() {},

  isBlocked: isBusy,
  lacksValue: isConstraintFailure,

  async existing(session) {
    const tables = new Map<string, TableDescription>();
    const columns = await rows(
      session,
      `select t.name, c.name, case when c.pk = 1 and lower(c.type) = 'integer' then 'sequence' else lower(c.type) end, c."notnull" or c.pk, c.dflt_value,
         c.hidden <> 0
       from sqlite_schema t, pragma_table_xinfo(t.name) c
       where t.type = 'table' and (c.hidden = 0 or c.name = '${updatedAtColumn}') and c.name not in ('${rowNumber}', '${storedUpdatedAt}')`,
    );
    for (const [table, column, type, isNotNull, defaultText, isComputed] of columns) {
      const description = tables.get(table as string) ?? new TableDescription();
      description.columns.set(column as string, {
        type: typeNames.get(type as string) ?? String(type),
        isNullable: isNotNull === 0,
        hasDefault: defaultText !== null,
        isComputed: isComputed === 1,
        ...(defaultText !== null && { defaultText: String(defaultText) }),
      });
      tables.set(table as string, description);
    }
    const others = await rows(
      session,
      "select tbl_name, name, type, sql from sqlite_schema where type in ('index', 'trigger')",
    );
    for (const [table, name, type, text] of others) {
      const description = tables.get(table as string);
      const elements = elementIndexOfTrigger(name as string, String(text));
      if (elements) description?.elementIndexes.set(...elements);
      else if (
        !String(name).startsWith(elementTriggerPrefix) &&
        !noteCounterTrigger(String(name), description?.counters)
      )
        (type === "trigger" ? description?.searches : description?.indexes)?.add(name as string);
    }
    const indexed = await rows(
      session,
      "select t.tbl_name, t.name, i.name, t.sql from sqlite_schema t, pragma_index_info(t.name) i where t.type = 'index'",
    );
    for (const [table, index, column, text] of indexed) {
      const columnsOfIndexes = tables.get(table as string)?.indexColumns;
      columnsOfIndexes?.set(index as string, [
        ...(columnsOfIndexes.get(index as string) ?? []),
        ...(column === null ? rankedColumns(String(text)) : [String(column)]),
      ]);
    }
    const references = await rows(
      session,
      `select t.name, f."from", f."table" from sqlite_schema t, pragma_foreign_key_list(t.name) f
       where t.type = 'table' and f."from" <> 'tenant_no'`,
    );
    for (const [table, column, target] of references) {
      tables.get(table as string)?.references.set(column as string, target as string);
    }
    return tables;
  },

  create(table) {
    return [createTable(table, table.name), ...createIndexes(table)];
  },

  addColumns(table, columns) {
    const references = table.foreignKeys.filter(({ column }) => columns.some(({ name }) => name === column));
    return [
      ...columns.flatMap((column) => addColumn(table, column)),
      ...(references.length > 0 ? addReferences(table, references) : []),
    ];
  },

  // Foreign keys are part of `create table`; the referenced table need not exist yet.
  addReferences: () => ({ added: [], checked: [] }),

  addIndex: (table, index) => createIndex(sqliteTables, table, index),
  dropIndex: (name) => sql`drop index ${sql.ref(name)}`,

  async indexSizes(session, names) {
    const sizes = new Map<string, number>();
    for (const name of names) {
      const statement = {
        sql: "select pgsize from dbstat where name = ? and aggregate = true",
        bind: () => [name],
      };
      for (const [size] of await session.query(statement, undefined)) sizes.set(name, Number(size));
    }
    return sizes;
  },

  rebuild(table, columns, existing, dropped) {
    const wasReference = [...dropped].some((name) => existing.references.has(name));
    return wasReference ? rebuild(table, columns, withoutColumns(existing, dropped)) : undefined;
  },

  dropColumns(table, columns, existing) {
    return [
      ...indexesOn(existing, columns).map((name) => sqliteTables.dropIndex(name)),
      ...[...columns].map((name) => sql`alter table ${sql.table(table.name)} drop column ${sql.ref(name)}`),
    ];
  },

  createElementTriggers(index) {
    const on = sql`on ${sql.table(index.table)}`;
    const trigger = (event: string): RawBuilder<unknown> =>
      sql`create trigger ${sql.ref(`${elementTriggerPrefix}${index.name}_${event}`)} after`;
    const add = addElements(sqliteDialect, index, "new");
    const remove = removeElements(sqliteDialect, index, "old");
    return [
      sql`${trigger("insert")} insert ${on} begin ${add}; end`,
      sql`${trigger("delete")} delete ${on} begin ${remove}; end`,
      // `elementIndexOfTrigger` reads the column of the list from this text.
      sql`${trigger("update")} update of ${watchedColumns(index)} ${on} when ${isChanged(index, "is not")} begin ${remove}; ${add}; end`,
    ];
  },

  ...{ createCounter, completeCounter, dropCounter },

  dropElementTriggers: (_table, index) =>
    elementEvents.map(
      (event) => sql`drop trigger if exists ${sql.ref(`${elementTriggerPrefix}${index}_${event}`)}`,
    ),

  dropTables: (tables) =>
    tables.flatMap(({ name, existing }) => [
      ...[...existing.elementIndexes.keys()].map((index) => sql`drop table ${sql.table(index)}`),
      ...(existing.searches.size > 0 ? [sql`drop table if exists ${sql.table(searchTable(name))}`] : []),
      sql`drop table ${sql.table(name)}`,
    ]),

  requireColumn(table, column) {
    const query = sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} set not null`;
    return [{ query, isLocking: true }];
  },

  /**
   * A contentless FTS5 table: it stores no copy of the text. `query/search-terms.ts` has split the words, so only the space
   * separates them: the `ascii` tokenizer treats every non-ASCII character as part of a word.
   */
  createSearch(table) {
    const index = sql.table(searchTable(table.name));
    return [
      createSearchTable(table),
      sql`insert into ${index} (rowid, words) select row_no, ${taggedText()} from ${sql.table(table.name)}`,
      ...searchTriggers(table),
      ...recordCreationOrder(table.name),
    ];
  },

  recordOrder(table, existing) {
    if (!table.search || existing.searches.has(orderTriggerName(table.name))) return [];
    return recordCreationOrder(table.name);
  },

  // The search table does not depend on the searched fields, so an existing one stays. Into another one, the triggers put
  // the rows whose words are recomputed.
  addSearch(table, existing) {
    const triggers = [...existing.searches].filter((name) => searchTriggerName.test(name));
    const old = triggers.map((name) => sql`drop trigger ${sql.ref(name)}`);
    const created = triggers.length === 0 ? [createSearchTable(table)] : [];
    return { first: [...old, ...created, ...searchTriggers(table)], last: [] };
  },

  unneededSearch(table, existing) {
    if (table.search) return [];
    return sqliteTables.dropSearch(table, existing).map((query) => ({ query, index: undefined }));
  },

  dropSearch(table, existing) {
    const triggers = [...existing.searches].filter((name) => name.startsWith(indexPrefix));
    if (triggers.length === 0) return [];
    return [
      ...triggers.map((name) => sql`drop trigger ${sql.ref(name)}`),
      sql`drop table ${sql.table(searchTable(table.name))}`,
    ];
  },
};

const elementEvents = ["insert", "delete", "update"];

/** The index of elements that a trigger writes on updates, and the column of the list. */
function elementIndexOfTrigger(name: string, text: string): [index: string, list: string] | undefined {
  const list = / after update of "([^"]+)"/.exec(text)?.[1];
  if (!name.startsWith(elementTriggerPrefix) || list === undefined) return undefined;
  return [name.slice(elementTriggerPrefix.length, -"_update".length), list];
}

function createSearchTable(table: Table): RawBuilder<unknown> {
  return sql`create virtual table ${sql.table(searchTable(table.name))} using fts5(words, content='', contentless_delete=1, detail=none, tokenize="ascii")`;
}

function searchTriggers(table: Table): RawBuilder<unknown>[] {
  const index = sql.table(searchTable(table.name));
  const source = sql.table(table.name);
  const trigger = (event: string): RawBuilder<unknown> => sql.ref(`${table.search!.index}_${event}`);
  // A row that existed before the search table is not in it.
  const put = sql`insert or replace into ${index} (rowid, words) values (new.row_no, ${taggedText("new.")})`;
  return [
    sql.raw(createDeferral),
    sql`create trigger ${trigger("delete")} after delete on ${source} begin delete from ${index} where rowid = old.row_no; end`,
    sql`create trigger ${trigger("update")} after update of ${sql.ref(searchColumn)} on ${source} begin ${put}; end`,
    sql`create trigger ${sql.ref(table.search!.index)} after insert on ${source} when ${sql.raw(conditionOfTrigger(table.name))} begin insert into ${index} (rowid, words) values (new.row_no, ${taggedText("new.")}); end`,
  ];
}

function createIndexes(table: Table): RawBuilder<unknown>[] {
  return table.indexes.map((index) => createIndex(sqliteTables, table, index));
}

/**
 * SQLite cannot drop a foreign key with its column, so the table is recreated and its rows are copied. Columns that have no
 * field are copied too.
 */
function rebuild(table: Table, added: readonly Column[], existing: ExistingTable): RawBuilder<unknown>[] {
  // No declared name has two underscores in succession.
  const next = `${table.name}__next`;
  const declared = table.columns.map((column) => rebuiltColumn(column, added, existing));
  const isDeclared = (name: string): boolean => declared.some((column) => column.name === name);
  const kept = [...existing.columns].flatMap(([name, { type }]) =>
    isDeclared(name) ? [] : [keptColumn(name, type)],
  );
  const foreignKeys = kept.flatMap(({ name }): ForeignKey[] => {
    const target = existing.references.get(name);
    return target === undefined ? [] : [{ column: name, table: target, onDelete: "restrict" }];
  });
  const whole = {
    ...table,
    columns: [...declared, ...kept],
    foreignKeys: [...table.foreignKeys, ...foreignKeys],
  };
  const copied = [
    rowNumber,
    ...whole.columns.filter((column) => existing.columns.has(column.name)).map((column) => column.name),
  ];
  const filled = added.filter((column) => column.defaultValue !== undefined);
  const stored = copied.map((name) => storedColumn(table, name));
  const names = [...stored, ...filled.map((column) => column.name)].map((name) => sql.ref(name));
  const values = [
    ...stored.map((name) => sql.ref(name)),
    ...filled.map((column) => sql.lit(encodeFill(column))),
  ];
  return [
    createTable(whole, next, added, existing),
    sql`insert into ${sql.table(next)} (${sql.join(names)}) select ${sql.join(values)} from ${sql.table(table.name)}`,
    sql`drop table ${sql.table(table.name)}`,
    sql`alter table ${sql.table(next)} rename to ${sql.table(table.name)}`,
    ...createIndexes(table),
  ];
}

/** A declared column as the rebuilt table has it: one that is still optional becomes required in the contraction. */
function rebuiltColumn(column: Column, added: readonly Column[], existing: ExistingTable): Column {
  const addedAs = added.find(({ name }) => name === column.name);
  if (addedAs) return addedAs;
  return existing.columns.get(column.name)?.isNullable ? { ...column, isNullable: true } : column;
}

function keptColumn(name: string, type: string): Column {
  // A column of a resource has one of these types.
  return { name, type: type as ColumnType, isNullable: true, defaultValue: undefined, from: name };
}

/** The columns of whose choices an index holds the rank, an expression that SQLite does not name. */
function rankedColumns(text: string): string[] {
  return [...text.matchAll(/\(case "([^"]+)" when/g)].map(([, column]) => column!);
}

async function rows(session: Session, text: string): Promise<readonly (readonly unknown[])[]> {
  return session.query({ sql: text, bind: () => [] }, undefined);
}
