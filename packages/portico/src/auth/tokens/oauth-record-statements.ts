// The SQL statements of OAuthRecords. Secret values are hashed and payloads encrypted as they are bound.

import { type RawBuilder, sql } from "kysely";
import type { Encryption } from "../../lib/encryption.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { hashToken } from "./hash-token.ts";
import { oauthRecordsTable } from "./oauth-records-table.ts";

/** Rows in one page of ids. */
const pageSize = 100;

/** A record to store under a secret value. */
export interface NewRecord {
  readonly model: string;
  readonly value: string;
  readonly payload: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  readonly grantId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly uid?: string | undefined;
  readonly userCode?: string | undefined;
}

/** The model of a record and the value that identifies it; statements hash the value. */
interface RecordKey {
  readonly model: string;
  readonly value: string;
}

/** The model of a record and its id, which is the hash of its value. */
interface RecordId {
  readonly model: string;
  readonly id: string;
}

interface GrantKey {
  readonly model: string;
  readonly grantId: string;
}

interface AccountKey {
  readonly model: string;
  readonly accountId: string;
}

/** The statements of records, compiled for the database of a store. */
export type OAuthRecordStatements = ReturnType<typeof oauthRecordStatements>;

export function oauthRecordStatements(store: Store, encryption: Encryption) {
  const encrypted = parameter((record: NewRecord) => encryption.encrypt(record.payload));
  return {
    upsert: defineQuery(tables, (db, record: ParametersOf<NewRecord>) =>
      db
        .insertInto("oauth_records")
        .values(valuesOf(record, encrypted))
        .onConflict((conflict) =>
          conflict.columns(["model", "id"]).doUpdateSet(({ ref }) => ({
            payload: ref("excluded.payload"),
            grant_id: ref("excluded.grant_id"),
            account_id: ref("excluded.account_id"),
            uid: ref("excluded.uid"),
            user_code: ref("excluded.user_code"),
            expires_at: ref("excluded.expires_at"),
          })),
        ),
    )(store),
    insert: defineQuery(tables, (db, record: ParametersOf<NewRecord>) =>
      db
        .insertInto("oauth_records")
        .values(valuesOf(record, encrypted))
        .onConflict((conflict) => conflict.columns(["model", "id"]).doNothing())
        .returning("id"),
    )(store),
    update: defineQuery(tables, (db, record: ParametersOf<NewRecord>) => {
      const { model, id, ...changes } = valuesOf(record, encrypted);
      return db
        .updateTable("oauth_records")
        .set(changes)
        .where("model", "=", model)
        .where("id", "=", id)
        .returning("id");
    })(store),
    find: find(store),
    findByUid: findByUid(store),
    findByUserCode: findByUserCode(store),
    consume: consume(store),
    take: take(store),
    pageOfIds: pageOfIds(store),
    takeById: takeById(store),
    delete: deleteRecord(store),
    deleteByGrant: deleteByGrant(store),
    deleteGrant: deleteGrant(store),
    deleteAccount: deleteAccountRecords(store),
    listByAccount: listByAccount(store),
  };
}

const tables = [oauthRecordsTable] as const;
const hashOfValue = parameter(({ value }: RecordKey) => hashToken(value));
const now = parameter(epochSeconds);

function valuesOf({ model, expiresAt }: ParametersOf<NewRecord>, payload: RawBuilder<string>) {
  return {
    model,
    id: hashOfValue,
    payload,
    grant_id: parameter((record: NewRecord) => record.grantId ?? null),
    account_id: parameter((record: NewRecord) => record.accountId ?? null),
    uid: parameter(({ uid }: NewRecord) => (uid === undefined ? null : hashToken(uid))),
    user_code: parameter(({ userCode }: NewRecord) => (userCode === undefined ? null : hashToken(userCode))),
    expires_at: expiresAt,
  };
}

const find = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db
    .selectFrom("oauth_records")
    .select(["payload", "consumed_at"])
    .where("model", "=", model)
    .where("id", "=", hashOfValue),
);

const findByUid = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db
    .selectFrom("oauth_records")
    .select(["payload", "consumed_at"])
    .where("model", "=", model)
    .where("uid", "=", hashOfValue),
);

const findByUserCode = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db
    .selectFrom("oauth_records")
    .select(["payload", "consumed_at"])
    .where("model", "=", model)
    .where("user_code", "=", hashOfValue),
);

const consume = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db
    .updateTable("oauth_records")
    .set({ consumed_at: now })
    .where("model", "=", model)
    .where("id", "=", hashOfValue)
    .where("consumed_at", "is", null)
    .returning("id"),
);

const take = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db
    .deleteFrom("oauth_records")
    .where("model", "=", model)
    .where("id", "=", hashOfValue)
    .where("expires_at", ">", now)
    .returning("payload"),
);

/** The next ids of a model after `id`. */
const pageOfIds = defineQuery(tables, (db, { model, id }: ParametersOf<RecordId>) =>
  db
    .selectFrom("oauth_records")
    .select("id")
    .where("model", "=", model)
    .where("id", ">", id)
    .orderBy("id")
    .limit(sql.lit(pageSize)),
);

const takeById = defineQuery(tables, (db, { model, id }: ParametersOf<RecordId>) =>
  db
    .deleteFrom("oauth_records")
    .where("model", "=", model)
    .where("id", "=", id)
    .where("expires_at", ">", now)
    .returning("payload"),
);

const deleteRecord = defineQuery(tables, (db, { model }: ParametersOf<RecordKey>) =>
  db.deleteFrom("oauth_records").where("model", "=", model).where("id", "=", hashOfValue).returning("id"),
);

/** Deletes the records of a model that belong to a grant. */
const deleteByGrant = defineQuery(tables, (db, { model, grantId }: ParametersOf<GrantKey>) =>
  db.deleteFrom("oauth_records").where("model", "=", model).where("grant_id", "=", grantId),
);

const deleteGrant = defineQuery(tables, (db, { grantId }: ParametersOf<{ grantId: string }>) =>
  db.deleteFrom("oauth_records").where("grant_id", "=", grantId).returning("model"),
);

/** Deletes all records of a user: sessions, grants with their codes and tokens, links sent by email. */
export const deleteAccountRecords = defineQuery(
  tables,
  (db, { accountId }: ParametersOf<{ accountId: string }>) =>
    db.deleteFrom("oauth_records").where("account_id", "=", accountId),
);

const listByAccount = defineQuery(tables, (db, { model, accountId }: ParametersOf<AccountKey>) =>
  db
    .selectFrom("oauth_records")
    .select("payload")
    .where("model", "=", model)
    .where("account_id", "=", accountId)
    .where("expires_at", ">", now),
);
