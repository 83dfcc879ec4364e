// Refuses a change of layout after which writes would fail, because a trigger that was added by hand sets `updated_at`.

import type { DatabaseSync } from "node:sqlite";
import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { indexPrefix } from "../schema/index-names.ts";
import { storedUpdatedAt, updatedAtColumn } from "../update-time.ts";
import { quoted } from "./change.ts";
import { rowsOf } from "./sqlite-rows.ts";

/**
 * Prepares writes to each table and view that has triggers, by which SQLite compiles those too.
 *
 * @param database a file of layout 3
 * @throws OperatorError that names the triggers in question
 */
export function refuseTriggersThatSet(database: DatabaseSync): void {
  const tables = rowsOf(database, "select distinct tbl_name from sqlite_schema where type = 'trigger'");
  for (const [table] of tables)
    for (const write of writesTo(database, String(table))) {
      const failure = whyRefused(database, write);
      // Any other error was there before.
      if (failure === undefined || !/generated column "updated_at"/i.test(failure)) continue;
      throw new OperatorError(
        `writes to ${table} would fail (${failure}): drop the triggers that set ${updatedAtColumn} (${triggersNaming(database).join(", ")}), and create them with ${storedUpdatedAt} afterwards. The database is as it was`,
      );
    }
}

/** A statement of each kind, which sets all columns. */
function writesTo(database: DatabaseSync, table: string): string[] {
  const columns = rowsOf(database, "select name from pragma_table_xinfo(?) where hidden = 0", table);
  const names = columns.map(([name]) => quoted(String(name)));
  return [
    `insert into ${quoted(table)} (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
    `update ${quoted(table)} set ${names.map((name) => `${name} = ${name}`).join(", ")}`,
    `delete from ${quoted(table)}`,
  ];
}

function whyRefused(database: DatabaseSync, text: string): string | undefined {
  try {
    database.prepare(text);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The triggers that are not Portico's and contain the name of the column. */
function triggersNaming(database: DatabaseSync): string[] {
  const triggers = rowsOf(database, "select name, sql from sqlite_schema where type = 'trigger'");
  return triggers
    .filter(([name, text]) => !String(name).startsWith(indexPrefix) && /\bupdated_at\b/i.test(String(text)))
    .map(([name]) => String(name));
}
