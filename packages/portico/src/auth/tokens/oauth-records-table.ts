// The table of the authorization server's records, and how long expired ones stay in it.

import { sql } from "kysely";
import type { RetentionPolicy } from "../../jobs/purge.ts";
import { ownTable } from "../../store/own-tables/table.ts";

/** Expired records stay for another minute, so that an expired value can be told from an unknown one. */
export const oauthRecordRetention: RetentionPolicy = {
  table: "oauth_records",
  retentionMs: 60_000,
  selectExpired: (idColumn, before) =>
    sql`select ${idColumn} from oauth_records where expires_at < ${before}`,
  encode: (time) => Math.floor(time / 1000),
};

export const oauthRecordsTable = ownTable(
  "oauth_records",
  {
    model: "text",
    id: "text",
    payload: "text",
    grant_id: "text?",
    account_id: "text?",
    uid: "text?",
    user_code: "text?",
    expires_at: "integer",
    consumed_at: "integer?",
  },
  {
    primaryKey: ["model", "id"],
    indexes: [
      { columns: ["grant_id"] },
      { columns: ["account_id"] },
      { columns: ["model", "uid"] },
      { columns: ["model", "user_code"] },
      { columns: ["expires_at"] },
    ],
  },
);
