// Copies the tables of a SQLite file of layout 1 into a new file, as layout 2 has them. The tables are described by the catalogue
// and not by the declarations: what the declarations change is left to the migration that follows.

import type { DatabaseSync } from "node:sqlite";
import { isUnavailable, OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { indexPrefix } from "../schema/index-names.ts";
import { searchTable } from "../schema/table.ts";
import { translateError } from "../sqlite/connection.ts";
import { type CopyProgress, quoted, refuseOrphans, withTenantNumber } from "./change.ts";
import { rowsOf } from "./sqlite-rows.ts";

const rowsPerBatch = 20_000;

const createTenants = `
  create table tenants ("no" integer primary key autoincrement, "id" text not null, "name" text not null,
    "created_at" timestamp_text not null);
  create unique index portico_tenants_id on tenants ("id");
  insert into tenants (id, name, created_at) select id, name, created_at from old.tenants order by created_at, id`;

/** The rows are in the order of this column. */
interface Numbering {
  readonly column: string;
  /** The largest number, which is at least that of the rows. */
  readonly last: number;
}

/**
 * @param database the new file, to which the other one is attached as `old`
 * @param changed the tables whose rows have the id of a tenant
 * @returns the number of copied rows
 * @throws OperatorError for rows without a tenant, and for what cannot be copied
 */
export function copyTables(
  database: DatabaseSync,
  changed: ReadonlySet<string>,
  onProgress: CopyProgress,
): number {
  const tables = namesOfTables(database);
  database.exec(createTenants);
  const others = tables.filter((name) => name !== "tenants");
  for (const name of others) {
    if (changed.has(name)) database.exec(definitionOf(database, name));
    else runDefinition(database, "table", name);
  }
  const numbers = new Map(others.map((name) => [name, numberingOf(database, name)]));
  const total = [...numbers.values()].reduce((sum, { last }) => sum + last, 0);
  let done = 0;
  let rows = 0;
  for (const [name, numbering] of numbers) {
    rows += copyRows(database, name, numbering, changed.has(name), (last) =>
      onProgress(name, total === 0 ? 1 : (done + last) / total),
    );
    done += numbering.last;
  }
  copyOthers(database, new Set(tables));
  return rows;
}

/** The tables of the old file, without those of its search indexes. @throws OperatorError for other virtual tables */
function namesOfTables(database: DatabaseSync): string[] {
  const tables = rowsOf(database, "select name, type from pragma_table_list where schema = 'old'");
  const plain = tables.filter(([, type]) => type === "table").map(([name]) => String(name));
  const searches = new Set(plain.map(searchTable));
  const unknown = tables.find(([name, type]) => type === "virtual" && !searches.has(String(name)));
  if (unknown) throw cannotCopy("virtual table", String(unknown[0]), "it is not one of Portico");
  return plain.filter((name) => !name.startsWith("sqlite_"));
}

/** `create table` for a table whose rows get the number of their tenant. */
function definitionOf(database: DatabaseSync, table: string): string {
  const columns = rowsOf(
    database,
    `select name, type, "notnull", dflt_value, pk from pragma_table_info(?, 'old')`,
    table,
  ).map(([name, type, isRequired, defaultValue, key]) => {
    if (name === "tenant_id") return "tenant_no tenant_integer not null";
    const required = isRequired === 1 ? " not null" : "";
    const initial = defaultValue === null ? "" : ` default (${defaultValue})`;
    const primary = key === 1 ? ` primary key${isAutomatic(database, table) ? " autoincrement" : ""}` : "";
    return `${quoted(String(name))} ${type}${primary}${required}${initial}`;
  });
  const uniques = rowsOf(
    database,
    `select (select json_group_array(name order by seqno) from pragma_index_info(i.name, 'old'))
     from pragma_index_list(?, 'old') as i where i.origin = 'u'`,
    table,
  ).map(([names]) => `unique (${columnList(names)})`);
  const references = rowsOf(
    database,
    `select "table", on_delete, json_group_array("from" order by seq), json_group_array("to" order by seq)
     from pragma_foreign_key_list(?, 'old') group by id`,
    table,
  ).map(
    ([target, onDelete, from, to]) =>
      `foreign key (${columnList(from)}) references ${quoted(String(target))} (${columnList(to)}) on delete ${onDelete}`,
  );
  return `create table ${quoted(table)} (${[...columns, ...uniques, ...references].join(", ")})`;
}

function columnList(names: unknown): string {
  const columns: string[] = JSON.parse(String(names));
  return columns.map((name) => quoted(name === "tenant_id" ? "tenant_no" : name)).join(", ");
}

/** Whether a table never gives out a number again. */
function isAutomatic(database: DatabaseSync, table: string): boolean {
  return /\bautoincrement\b/i.test(sqlOf(database, "table", table));
}

function numberingOf(database: DatabaseSync, table: string): Numbering {
  const [key] = rowsOf(
    database,
    "select name from pragma_table_info(?, 'old') where pk = 1 and lower(type) = 'integer'",
    table,
  );
  const column = key ? String(key[0]) : "rowid";
  const [last] = rowsOf(database, `select max(${quoted(column)}) from old.${quoted(table)}`);
  return { column, last: Number(last![0] ?? 0) };
}

/** @returns the number of rows */
function copyRows(
  database: DatabaseSync,
  table: string,
  { column, last }: Numbering,
  isChanged: boolean,
  onBatch: (number: number) => void,
): number {
  const columns = rowsOf(database, "select name from pragma_table_info(?, 'old')", table).map(([name]) =>
    String(name),
  );
  const tenantNo = "(select no from main.tenants where id = r.tenant_id)";
  const values = columns.map((name) => {
    if (isChanged && name === "tenant_id") return tenantNo;
    // The words contain the tenant. The migration recomputes them.
    return isChanged && name === "search_words" ? "''" : `r.${quoted(name)}`;
  });
  const names = columns.map((name) => quoted(isChanged && name === "tenant_id" ? "tenant_no" : name));
  const number = `r.${quoted(column)}`;
  const source = `old.${quoted(table)} as r`;
  // A row without a tenant violates `not null`; it is skipped here, and counted below.
  const copy = database.prepare(
    `insert or ignore into main.${quoted(table)} (${names.join(", ")})
     select ${values.join(", ")} from ${source} where ${number} > ? and ${number} <= ? order by ${number}`,
  );
  const end = database.prepare(
    `select max(number) from (select ${number} as number from ${source} where ${number} > ? order by ${number} limit ?)`,
  );
  end.setReturnArrays(true);
  const [first] = rowsOf(database, `select min(${quoted(column)}) from old.${quoted(table)}`);
  for (let after = Number(first![0] ?? 0) - 1; after < last; ) {
    const [[until]] = end.all(after, rowsPerBatch) as unknown as [[number]];
    copy.run(after, until);
    after = until;
    onBatch(after);
  }
  if (isAutomatic(database, table)) copySequence(database, table);
  const count = (schema: string): number =>
    Number(rowsOf(database, `select count(*) from ${schema}.${quoted(table)}`)[0]![0]);
  const copied = count("main");
  refuseOrphans(table, copied, count("old"));
  return copied;
}

function copySequence(database: DatabaseSync, table: string): void {
  database.prepare("delete from main.sqlite_sequence where name = ?").run(table);
  database
    .prepare("insert into main.sqlite_sequence select name, seq from old.sqlite_sequence where name = ?")
    .run(table);
}

/** Indexes, triggers and views that are not Portico's. The migration creates Portico's. */
function copyOthers(database: DatabaseSync, tables: ReadonlySet<string>): void {
  const others = rowsOf(
    database,
    "select type, name, tbl_name from old.sqlite_schema where type <> 'table' and sql is not null order by type = 'trigger'",
  );
  for (const [type, name, table] of others) {
    const isView = type === "view";
    if (!isView && (String(name).startsWith(indexPrefix) || !tables.has(String(table)))) continue;
    runDefinition(database, String(type), String(name));
  }
}

/** Creates what the old file has under a name. */
function runDefinition(database: DatabaseSync, type: string, name: string): void {
  const text = sqlOf(database, type, name);
  try {
    database.exec(type === "table" ? text : withTenantNumber(text));
  } catch (error) {
    if (isUnavailable(translateError(error))) throw error;
    throw cannotCopy(type, name, errorMessage(error));
  }
}

function sqlOf(database: DatabaseSync, type: string, name: string): string {
  const [row] = rowsOf(database, "select sql from old.sqlite_schema where type = ? and name = ?", type, name);
  return String(row![0]);
}

function cannotCopy(type: string, name: string, reason: string): OperatorError {
  return new OperatorError(
    `the ${type} ${name} cannot be carried over (${reason}); drop it first. The database is as it was`,
  );
}
