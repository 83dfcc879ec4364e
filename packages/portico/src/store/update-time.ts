// When a row was last updated. Most rows never are, so on SQLite a row of an app's resource stores the time only once it
// was updated, and `updated_at` is computed from that and the time of its creation.

import type { ResourceModel } from "../model/model.ts";
import type { DatabaseName } from "./schema/table.ts";

export const updatedAtColumn = "updated_at";

/** The stored column, null in rows that were never updated. No declared name has two underscores in succession. */
export const storedUpdatedAt = "updated_at__stored";

/** Whether a table has that column. The server's own tables, and those of deleted rows, store every time. */
export function computesUpdatedAt(
  database: DatabaseName,
  { isOwn, deletedOf }: Pick<ResourceModel, "isOwn" | "deletedOf">,
): boolean {
  return database === "sqlite" && !isOwn && !deletedOf;
}

/** The column that a statement writes for a column of a resource. */
export function writtenColumn(database: DatabaseName, resource: ResourceModel, column: string): string {
  return column === updatedAtColumn && computesUpdatedAt(database, resource) ? storedUpdatedAt : column;
}
