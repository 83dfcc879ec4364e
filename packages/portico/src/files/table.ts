// The files that rows have, and those that wait for a row. Their contents are in the storage, under their ids.

import { sql } from "kysely";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";

/**
 * `pending`: announced, without content. `storing`: its content is being passed to the storage. `uploaded`: waits for a
 * row. `attached`: belongs to a row. `removed`: its content is to be deleted, and then this row. `cancelled`: removed
 * while it was stored, so its content may still come; the process that stores it removes it.
 */
export type FileStatus = "pending" | "storing" | "uploaded" | "attached" | "removed" | "cancelled";

/** Marks a file whose content is to be deleted. */
const removed = sql<string>`case when status in ('storing', 'cancelled') then 'cancelled' else 'removed' end`;

export const storedFilesTable = ownTable(
  "stored_files",
  {
    id: "text",
    // Not the number of the tenant: when the tenant is deleted, its files have still to be.
    owner_tenant: "text",
    /** The table and the column of its row, by which `portico migrate --drop` finds the files that are lost. */
    table_name: "text",
    column_name: "text",
    /** The user, or the credential without a user, that may put it into a row. */
    uploader: "text",
    /** The credential that has announced it; null for files of an earlier state. */
    credential_id: "text?",
    name: "text",
    type: "text",
    size: "integer",
    status: "text",
    changed_at: "timestamp",
  },
  {
    primaryKey: ["id"],
    indexes: [{ columns: ["status", "changed_at"] }, { columns: ["owner_tenant", "size"] }],
  },
);

/** What is known of a file before its content arrives. */
export interface AnnouncedFile {
  readonly id: string;
  readonly tenant: string;
  readonly table: string;
  readonly column: string;
  readonly uploader: string;
  readonly credentialId: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly now: string;
}

export const insertFile = defineQuery([storedFilesTable], (db, file: ParametersOf<AnnouncedFile>) =>
  db.insertInto("stored_files").values({
    ...{ id: file.id, owner_tenant: file.tenant, table_name: file.table, column_name: file.column },
    ...{
      uploader: file.uploader,
      credential_id: file.credentialId,
      name: file.name,
      type: file.type,
      size: file.size,
    },
    ...{ status: sql.lit("pending"), changed_at: file.now },
  }),
);

export const selectFile = defineQuery([storedFilesTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db
    .selectFrom("stored_files")
    .select([
      "id",
      "owner_tenant",
      "table_name",
      "column_name",
      "uploader",
      "credential_id",
      "name",
      "type",
      "size",
      "status",
    ])
    .where("id", "=", id),
);

/** Longer than a content takes to be passed to the storage. */
export const maxStoringMs = 10 * 60 * 1000;

/** Begins to store the content of a file, of this size. A process that was killed meanwhile is waited for no longer than `staleBefore`. */
export const beginStoring = defineQuery(
  [storedFilesTable],
  (
    db,
    {
      id,
      size,
      now,
      staleBefore,
    }: ParametersOf<{ id: string; size: number; now: string; staleBefore: string }>,
  ) =>
    db
      .updateTable("stored_files")
      .set({ status: sql.lit("storing"), size, changed_at: now })
      .where("id", "=", id)
      .where((where) =>
        where.or([
          where("status", "=", sql.lit("pending")),
          where.and([where("status", "=", sql.lit("storing")), where("changed_at", "<", staleBefore)]),
        ]),
      )
      .returning("owner_tenant"),
);

/** Ends it, with the size of the content. */
export const endStoring = defineQuery(
  [storedFilesTable],
  (db, { id, size, status, now }: ParametersOf<{ id: string; size: number; status: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status, size, changed_at: now })
      .where("id", "=", id)
      .where("status", "=", sql.lit("storing"))
      .returning("id"),
);

export interface ClaimedFile {
  readonly id: string;
  readonly tenant: string;
  readonly table: string;
  readonly column: string;
  readonly uploader: string;
  readonly now: string;
}

/** Puts an uploaded file into a row. */
export const attachFile = defineQuery([storedFilesTable], (db, file: ParametersOf<ClaimedFile>) =>
  db
    .updateTable("stored_files")
    .set({ status: sql.lit("attached"), changed_at: file.now })
    .where("id", "=", file.id)
    .where("status", "=", sql.lit("uploaded"))
    .where("owner_tenant", "=", file.tenant)
    .where("table_name", "=", file.table)
    .where("column_name", "=", file.column)
    .where("uploader", "=", file.uploader)
    .returning(["id", "name", "type", "size"]),
);

export const removeFile = defineQuery(
  [storedFilesTable],
  (db, { id, now }: ParametersOf<{ id: string; now: string }>) =>
    db.updateTable("stored_files").set({ status: removed, changed_at: now }).where("id", "=", id),
);

/** The same, unless a row has it. */
export const discardFile = defineQuery(
  [storedFilesTable],
  (db, { id, now }: ParametersOf<{ id: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: removed, changed_at: now })
      .where("id", "=", id)
      .where("status", "in", [sql.lit("pending"), sql.lit("storing"), sql.lit("uploaded")]),
);

/** Removes the files that no row has got since then. */
export const removeUnused = defineQuery(
  [storedFilesTable],
  (db, { before, now }: ParametersOf<{ before: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: removed, changed_at: now })
      .where("status", "in", [sql.lit("pending"), sql.lit("storing"), sql.lit("uploaded")])
      .where("changed_at", "<", before),
);

export const removeOfTenant = defineQuery(
  [storedFilesTable],
  (db, { tenant, now }: ParametersOf<{ tenant: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: removed, changed_at: now })
      .where("owner_tenant", "=", tenant),
);

/** Removes the files of a table whose rows have been dropped. */
export const removeOfTable = defineQuery(
  [storedFilesTable],
  (db, { table, now }: ParametersOf<{ table: string; now: string }>) =>
    db.updateTable("stored_files").set({ status: removed, changed_at: now }).where("table_name", "=", table),
);

export const removeOfColumn = defineQuery(
  [storedFilesTable],
  (db, { table, column, now }: ParametersOf<{ table: string; column: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: removed, changed_at: now })
      .where("table_name", "=", table)
      .where("column_name", "=", column),
);

/** What the files of a tenant take, with those that are announced. */
export const selectBytes = defineQuery(
  [storedFilesTable],
  (db, { tenant }: ParametersOf<{ tenant: string }>) =>
    db
      .selectFrom("stored_files")
      .select((select) => select.fn.sum<number>("size").as("bytes"))
      .where("owner_tenant", "=", tenant),
);

/** Files whose contents are deleted together. */
export const removalBatch = 100;

export const selectRemoved = defineQuery([storedFilesTable], (db) =>
  db
    .selectFrom("stored_files")
    .select("id")
    .where("status", "=", sql.lit("removed"))
    .orderBy("changed_at")
    .limit(sql.lit(removalBatch)),
);

/** Removes a cancelled file once its content has been stored. */
export const removeCancelled = defineQuery(
  [storedFilesTable],
  (db, { id, now }: ParametersOf<{ id: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: sql.lit("removed"), changed_at: now })
      .where("id", "=", id)
      .where("status", "=", sql.lit("cancelled")),
);

/** The same for those whose process was killed. @param before no content can still arrive for those cancelled earlier */
export const removeStaleCancelled = defineQuery(
  [storedFilesTable],
  (db, { before, now }: ParametersOf<{ before: string; now: string }>) =>
    db
      .updateTable("stored_files")
      .set({ status: sql.lit("removed"), changed_at: now })
      .where("status", "=", sql.lit("cancelled"))
      .where("changed_at", "<", before),
);

export const deleteRemoved = defineQuery([storedFilesTable], (db, { id }: ParametersOf<{ id: string }>) =>
  db.deleteFrom("stored_files").where("id", "=", id).where("status", "=", sql.lit("removed")),
);
