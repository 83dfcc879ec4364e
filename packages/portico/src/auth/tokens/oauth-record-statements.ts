// The SQL statements of OAuthRecords. Secret values are hashed and payloads encrypted as they are bound.

import { type RawBuilder, sql } from "kysely";
import type { Encryption } from "../../lib/encryption.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Statement } from "../../store/database.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { hashToken } from "./hash-token.ts";

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

interface AccountKey {
  readonly model: string;
  readonly accountId: string;
}

export interface OAuthRecordStatements {
  readonly upsert: Statement<NewRecord>;
  readonly insert: Statement<NewRecord>;
  readonly update: Statement<NewRecord>;
  readonly find: Statement<RecordKey>;
  readonly findByUid: Statement<RecordKey>;
  readonly findByUserCode: Statement<RecordKey>;
  readonly consume: Statement<RecordKey>;
  readonly take: Statement<RecordKey>;
  /** The next ids of a model after `id`. */
  readonly pageOfIds: Statement<RecordId>;
  readonly takeById: Statement<RecordId>;
  readonly delete: Statement<RecordKey>;
  /** The records of a model that belong to a grant; `value` is the grant's id. */
  readonly deleteByGrant: Statement<RecordKey>;
  readonly deleteGrant: Statement<string>;
  readonly deleteAccount: Statement<string>;
  readonly listByAccount: Statement<AccountKey>;
}

export function oauthRecordStatements(store: Store, encryption: Encryption): OAuthRecordStatements {
  const make = <Input>(query: RawBuilder<unknown>): Statement<Input> => compile(store.dialect.builder, query);
  const hashOfValue = parameter((key: RecordKey) => hashToken(key.value));
  const model = sql`model = ${parameter((key: Pick<RecordKey, "model">) => key.model)}`;
  const key = sql`${model} and id = ${hashOfValue}`;
  const id = parameter((record: RecordId) => record.id);
  const isUnexpired = sql`expires_at > ${parameter(epochSeconds)}`;
  const select = sql`select payload, consumed_at from oauth_records where`;

  const values = [
    parameter((record: NewRecord) => record.model),
    parameter((record: NewRecord) => hashToken(record.value)),
    parameter((record: NewRecord) => encryption.encrypt(record.payload)),
    parameter((record: NewRecord) => record.grantId ?? null),
    parameter((record: NewRecord) => record.accountId ?? null),
    parameter((record: NewRecord) => (record.uid === undefined ? null : hashToken(record.uid))),
    parameter((record: NewRecord) => (record.userCode === undefined ? null : hashToken(record.userCode))),
    parameter((record: NewRecord) => record.expiresAt),
  ];
  const names = ["model", "id", "payload", "grant_id", "account_id", "uid", "user_code", "expires_at"];
  const insert = sql`insert into oauth_records (${sql.join(names.map((name) => sql.ref(name)))})
    values (${sql.join(values)})`;
  const fromExcluded = names.slice(2).map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
  const [matchesModel, matchesId, ...assignments] = names.map(
    (name, index) => sql`${sql.ref(name)} = ${values[index]!}`,
  );

  return {
    upsert: make(sql`${insert} on conflict (model, id) do update set ${sql.join(fromExcluded)}`),
    insert: make(sql`${insert} on conflict (model, id) do nothing returning id`),
    update: make(
      sql`update oauth_records set ${sql.join(assignments)} where ${matchesModel!} and ${matchesId!} returning id`,
    ),
    find: make(sql`${select} ${key}`),
    findByUid: make(sql`${select} ${model} and uid = ${hashOfValue}`),
    findByUserCode: make(sql`${select} ${model} and user_code = ${hashOfValue}`),
    consume: make(
      sql`update oauth_records set consumed_at = ${parameter(epochSeconds)} where ${key} and consumed_at is null returning id`,
    ),
    take: make(sql`delete from oauth_records where ${key} and ${isUnexpired} returning payload`),
    pageOfIds: make(
      sql`select id from oauth_records where ${model} and id > ${id} order by id limit ${sql.lit(pageSize)}`,
    ),
    takeById: make(
      sql`delete from oauth_records where ${model} and id = ${id} and ${isUnexpired} returning payload`,
    ),
    delete: make(sql`delete from oauth_records where ${key} returning id`),
    deleteByGrant: make(
      sql`delete from oauth_records where ${model} and grant_id = ${parameter((grant: RecordKey) => grant.value)}`,
    ),
    deleteGrant: make(
      sql`delete from oauth_records where grant_id = ${parameter((grantId: string) => grantId)} returning model`,
    ),
    deleteAccount: make(
      sql`delete from oauth_records where account_id = ${parameter((accountId: string) => accountId)}`,
    ),
    listByAccount: make(
      sql`select payload from oauth_records where ${model}
        and account_id = ${parameter(({ accountId }: AccountKey) => accountId)} and ${isUnexpired}`,
    ),
  };
}
