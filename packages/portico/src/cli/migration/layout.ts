// portico migrate --layout

import type { CheckDatabase, CompleteTables } from "../../store/layout/change.ts";
import { changeLayout, hasOldLayout } from "../../store/layout/change-layout.ts";
import type { Table } from "../../store/schema/table.ts";
import type { CommandOutput } from "../command.ts";
import { confirm } from "./confirm.ts";
import { MigrationProgress } from "./progress.ts";

export interface LayoutMigration {
  readonly databaseUrl: string;
  /** What the declarations need, and how the copied tables are brought to it. */
  readonly tables: readonly Table[];
  readonly complete: CompleteTables;
  /** Refuses, before anything is copied, what `complete` would refuse. */
  readonly check: CheckDatabase;
  /** Whether `--yes` is set. */
  readonly isConfirmed: boolean;
}

/** @throws OperatorError if it is not confirmed, or not possible */
export async function migrateLayout(migration: LayoutMigration): Promise<CommandOutput> {
  const { databaseUrl, tables, check, complete, isConfirmed } = migration;
  const unchanged = { json: { isChanged: false }, lines: ["The database has the current layout."] };
  if (!(await hasOldLayout(databaseUrl, tables, check))) return unchanged;
  if (!isConfirmed)
    await confirm(
      "This copies all tables. Earlier versions cannot read the result, and no server may be running.",
      "Type yes to change the layout: ",
    );
  const progress = new MigrationProgress();
  const change = await changeLayout(databaseUrl, tables, complete, (table, fraction) =>
    progress.report(`copied the rows, now ${table}`, Math.floor(fraction * 100), 100),
  );
  progress.end();
  // Another command has changed it.
  if (!change) return unchanged;
  const { rows, backup } = change;
  const kept = `The database as it was is in ${backup}. Delete it once you do not need it.`;
  return {
    json: { isChanged: true, rows, backup },
    lines: [`Changed the layout. Copied ${rows} rows.`, ...(backup === undefined ? [] : [kept])],
  };
}
