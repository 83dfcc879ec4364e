// The changes of a migration, as lines of output.

import type { Migration } from "../../store/schema/migrate.ts";

export function migrationLines(migration: Migration | undefined): string[] {
  if (!migration || migration.statements.length === 0) return [];
  const { statements, indexes } = migration;
  const count = `${statements.length} statement${statements.length === 1 ? "" : "s"}`;
  return [
    `database: applied ${count}`,
    ...indexes.map(({ change, name, table }) => `database: ${change} the index ${name} of ${table}`),
  ];
}
