// The table of the authorization server's records, and how long expired ones stay in it.

import { sql } from "kysely";
import type { RetentionPolicy } from "../../jobs/purge.ts";
import type { Column, Table } from "../../store/schema/ddl.ts";

/** Expired records stay for another minute, so that an expired value can be told from an unknown one. */
export const oauthRecordRetention: RetentionPolicy = {
  table: "oauth_records",
  retentionMs: 60_000,
  selectExpired: (idColumn, before) =>
    sql`select ${idColumn} from oauth_records where expires_at < ${before}`,
  encode: (time) => Math.floor(time / 1000),
};

const column = (name: string, type: Column["type"] = "text", isNullable = false): Column => ({
  name,
  type,
  isNullable,
  defaultValue: undefined,
  from: "oauth_records",
});

const index = (...names: string[]) => ({
  name: `portico_oauth_records_${names.join("_")}`,
  columns: names.map((name) => ({ name, isNullable: name !== "model" && name !== "expires_at" })),
  isUnique: false,
});

export const oauthRecordsTable: Table = {
  name: "oauth_records",
  columns: [
    column("model"),
    column("id"),
    column("payload"),
    column("grant_id", "text", true),
    column("account_id", "text", true),
    column("uid", "text", true),
    column("user_code", "text", true),
    column("expires_at", "integer"),
    column("consumed_at", "integer", true),
  ],
  primaryKey: ["model", "id"],
  indexes: [
    index("grant_id"),
    index("account_id"),
    index("model", "uid"),
    index("model", "user_code"),
    index("expires_at"),
  ],
  foreignKeys: [],
  search: undefined,
};
