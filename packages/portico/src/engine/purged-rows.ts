// Rows that were deleted softly and are deleted for good after a number of days (`purgeAfterDays`).

import { sql } from "kysely";
import { removeFile } from "../files/table.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { idLength } from "../lib/id.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { deletedTogether, deletionColumns } from "../model/soft-deletion.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";

/** How long deleted rows are kept. Rows of a resource are purged before those that were deleted with them. */
export function deletedRowsRetention(
  store: Store,
  { resources }: Pick<Model, "resources">,
): RetentionPolicy[] {
  return resources.flatMap((resource) => {
    const { purgeAfterDays } = resource;
    if (purgeAfterDays === undefined) return [];
    return [...deletedTogether(resource)].map((each) => retentionOf(store, resource, each, purgeAfterDays));
  });
}

/** @param root the resource of the rows with which others were deleted */
function retentionOf(
  store: Store,
  root: ResourceModel,
  { deletedRows, files }: ResourceModel,
  days: number,
): RetentionPolicy {
  const { table } = deletedRows!;
  const start = `${root.idPrefix}_`;
  const deletedWith = sql.ref(deletionColumns.with);
  // The id of no other resource has this prefix and this length.
  const isWithRoot = sql`substr(${deletedWith}, 1, ${sql.lit(start.length)}) = ${sql.lit(start)} and length(${deletedWith}) = ${sql.lit(idLength(root.idPrefix))}`;
  return {
    table,
    retentionMs: days * dayMs,
    selectExpired: (column, before) =>
      sql`select ${column} from ${sql.table(table)} where deleted_at < ${before} and ${isWithRoot}`,
    encode: (time) => new Date(time).toISOString(),
    ...(files.length > 0 && {
      returning: files.map(({ column }) => column),
      onDeleted: (session: Session, rows: readonly object[]) => removeFiles(store, session, rows),
    }),
  };
}

/** Gives up the files of rows. @param rows the columns of their files */
async function removeFiles(store: Store, session: Session, rows: readonly object[]): Promise<void> {
  const now = new Date().toISOString();
  for (const value of rows.flatMap((row): unknown[] => Object.values(row))) {
    // The driver of PostgreSQL parses JSON.
    const file: unknown = typeof value === "string" ? JSON.parse(value) : value;
    if (typeof file !== "object" || file === null || !("id" in file)) continue;
    await removeFile(store).run(session, { id: String(file.id), now });
  }
}
