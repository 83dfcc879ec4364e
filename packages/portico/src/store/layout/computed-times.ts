// Lets the tables of a SQLite file compute when their rows were updated, as layout 3 does.

import type { DatabaseSync } from "node:sqlite";
import { OperatorError } from "../../errors.ts";
import { searchTable } from "../schema/table.ts";
import { rowNumber, updatedAtDefinitions } from "../sqlite/table-definitions.ts";
import { storedUpdatedAt } from "../update-time.ts";
import { type CopyProgress, quoted } from "./change.ts";
import { rowsOf } from "./sqlite-rows.ts";

/**
 * Renames the stored column and adds the computed one in the text of `create table`, because the stored values of a row
 * stay as they are: https://www.sqlite.org/lang_altertable.html#otheralter
 *
 * @param database not in defensive mode
 * @param tables a table that is not declared, and not Portico's, stays as it is
 * @returns the number of rows in the changed tables
 * @throws OperatorError for a declared table with another definition of the column
 */
export function computeUpdatedAt(
  database: DatabaseSync,
  tables: readonly string[],
  declared: ReadonlySet<string>,
  onProgress: CopyProgress,
): number {
  let rows = 0;
  for (const [index, table] of tables.entries()) {
    if (redefine(database, table)) rows += clearTimes(database, table);
    else if (declared.has(table))
      throw new OperatorError(
        `the table ${table} does not define its column as ${updatedAtDefinitions.stored}; recreate it so first. The database is as it was`,
      );
    onProgress(table, (index + 1) / tables.length);
  }
  // The rows are shorter now. It would number the rows of some tables anew, to which other virtual tables may refer.
  if (!hasOtherVirtualTables(database)) database.exec("vacuum");
  return rows;
}

/** @returns whether the table has the column as Portico defines it */
function redefine(database: DatabaseSync, table: string): boolean {
  const { stored, computed } = updatedAtDefinitions;
  database.exec("pragma writable_schema = on");
  const { changes } = database
    .prepare(
      "update sqlite_schema set sql = replace(sql, ?, ?) where type = 'table' and name = ? and instr(sql, ?) > 0",
    )
    .run(stored, computed, table, stored);
  // Reads the schema again, and fails if it cannot be parsed.
  database.exec("pragma writable_schema = reset");
  return changes === 1;
}

/** @returns the number of rows in the table */
function clearTimes(database: DatabaseSync, table: string): number {
  const triggers = rowsOf(
    database,
    "select name, sql from sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase",
    table,
  );
  // No trigger may take this for an update.
  for (const [name] of triggers) database.exec(`drop trigger ${quoted(String(name))}`);
  database.exec(
    `update ${quoted(table)} set ${storedUpdatedAt} = null where ${storedUpdatedAt} = created_at`,
  );
  for (const [, text] of triggers) database.exec(watchingStored(String(text)));
  return Number(rowsOf(database, `select count(*) from ${quoted(table)}`)[0]![0]);
}

/** Quoted names and texts, comments, words, and other characters of SQL. */
const tokens = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|\[[^\]]*\]|--[^\n]*|\/\*.*?\*\/|\w+|./gs;

/** The text of a trigger. Its list of columns may contain `updated_at`, which no statement sets any longer. */
function watchingStored(text: string): string {
  let words = "";
  let isList = false;
  let isBefore = true;
  return text.replaceAll(tokens, (token) => {
    const word = token.toLowerCase();
    if (isList && /^(["`'[]?)updated_at["`'\]]?$/.test(word)) return `"${storedUpdatedAt}"`;
    if (isBefore && /^\w+$/.test(word)) {
      words = `${words} ${word}`;
      isList = words.endsWith(" update of") || (isList && word !== "on");
      isBefore = !["on", "begin"].includes(word);
    }
    return token;
  });
}

/** Whether there are virtual tables that are not search indexes of Portico. */
function hasOtherVirtualTables(database: DatabaseSync): boolean {
  const searched = rowsOf(
    database,
    "select t.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and c.name = ?",
    rowNumber,
  );
  const searches = new Set(searched.map(([name]) => searchTable(String(name))));
  const virtual = rowsOf(
    database,
    "select name from pragma_table_list where schema = 'main' and type = 'virtual'",
  );
  return virtual.some(([name]) => !searches.has(String(name)));
}
