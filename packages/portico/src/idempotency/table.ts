// The answers to requests that had an Idempotency-Key, kept for a day.

import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import { parameter } from "../store/statement.ts";

export const idempotencyKeysTable = ownTable(
  "idempotency_keys",
  {
    tenant_no: "tenant",
    credential_id: "text",
    key: "text",
    /** A hash of the request. */
    fingerprint: "text",
    /** Encrypted: it may have what is shown only once. */
    answer: "text",
    bytes: "integer",
    created_at: "timestamp",
  },
  {
    primaryKey: ["tenant_no", "credential_id", "key"],
    indexes: [{ columns: ["created_at"] }, { columns: ["tenant_no", "bytes"] }],
  },
);

export const idempotencyRetention: RetentionPolicy = {
  table: "idempotency_keys",
  retentionMs: dayMs,
  selectExpired: (idColumn, before) =>
    sql`select ${idColumn} from idempotency_keys where created_at < ${before}`,
  encode: (time) => new Date(time).toISOString(),
};

export interface KeyOfCredential {
  readonly tenantId: string;
  readonly credentialId: string;
  readonly key: string;
}

export interface NewAnswer extends KeyOfCredential {
  readonly fingerprint: string;
  readonly answer: string;
  readonly bytes: number;
}

/** Keys that have expired, but are not deleted yet, do not count. */
const oldest = parameter(() => new Date(Date.now() - dayMs).toISOString());

export const selectAnswer = defineQuery(
  [idempotencyKeysTable],
  (db, { tenantId, credentialId, key }: ParametersOf<KeyOfCredential>) =>
    db
      .selectFrom("idempotency_keys")
      .select(["fingerprint", "answer"])
      .where("tenant_no", "=", tenantId)
      .where("credential_id", "=", credentialId)
      .where("key", "=", key)
      .where("created_at", ">", oldest),
);

export const insertAnswer = defineQuery([idempotencyKeysTable], (db, stored: ParametersOf<NewAnswer>) =>
  db
    .insertInto("idempotency_keys")
    .values({
      tenant_no: stored.tenantId,
      credential_id: stored.credentialId,
      key: stored.key,
      fingerprint: stored.fingerprint,
      answer: stored.answer,
      bytes: stored.bytes,
      created_at: parameter<NewAnswer, string>(() => new Date().toISOString()),
    })
    .onConflict((conflict) =>
      conflict.columns(["tenant_no", "credential_id", "key"]).doUpdateSet(({ ref }) => ({
        fingerprint: ref("excluded.fingerprint"),
        answer: ref("excluded.answer"),
        bytes: ref("excluded.bytes"),
        created_at: ref("excluded.created_at"),
      })),
    ),
);

/** One row if any answer is stored. */
export const selectAnyAnswer = defineQuery([idempotencyKeysTable], (db) =>
  db.selectFrom("idempotency_keys").select("bytes").limit(1),
);

export const selectStoredBytes = defineQuery(
  [idempotencyKeysTable],
  (db) =>
    db
      .selectFrom("idempotency_keys")
      .select(({ fn }) => ["tenant_no as tenantId", fn.sum<number>("bytes").as("bytes")])
      .groupBy("tenant_no"),
  { mayScan: true },
);
