// Lets the triggers of a SQLite file index inserted rows unless a transaction does (`store/search/deferral.ts`).

import type { DatabaseSync } from "node:sqlite";
import { conditionOfTrigger, createDeferral } from "../search/deferral.ts";
import { searchTriggerName } from "../sqlite/tables.ts";
import { quoted } from "./change.ts";
import { rowsOf } from "./sqlite-rows.ts";

const beforeBody = /(?<= after insert on "([^"]+)")(?= begin )/;

export function deferTriggersOf(database: DatabaseSync): void {
  database.exec(createDeferral);
  const triggers = rowsOf(database, "select name, sql from sqlite_schema where type = 'trigger'");
  for (const [name, text] of triggers) {
    if (!searchTriggerName.test(String(name)) || !beforeBody.test(String(text))) continue;
    database.exec(`drop trigger ${quoted(String(name))}`);
    database.exec(String(text).replace(beforeBody, (_, table) => ` when ${conditionOfTrigger(table)}`));
  }
}
