// What the authorization server remembers: codes, refresh tokens, grants, sessions, requests under way. A value that
// opens something is kept as its hash only, and what belongs to it is sealed.

import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { RetentionPolicy } from "../../jobs/purge.ts";
import type { Encryption } from "../../lib/encryption.ts";
import type { ColumnValues, Session, Statement } from "../../store/database.ts";
import type { Column, Table } from "../../store/schema/ddl.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";

/** Records that one page of `page` has. */
const recordsOfPage = 100;

/** Seconds since 1970, as all times of OAuth are. */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** What has expired is told apart from what never was for a minute longer. */
export const oauthExpiry: RetentionPolicy = {
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

/** A thing that is remembered under a value which only its bearer knows. */
export interface NewRecord {
  readonly model: string;
  readonly value: string;
  readonly payload: string;
  readonly expiresAt: number;
  readonly grantId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly uid?: string | undefined;
  readonly userCode?: string | undefined;
}

export interface StoredRecord {
  readonly payload: string;
  /** When its one use was made. */
  readonly consumedAt: number | undefined;
}

interface Key {
  readonly model: string;
  readonly value: string;
}

/** Where a record is kept. */
interface RecordPosition {
  readonly model: string;
  readonly id: string;
}

interface AccountKey {
  readonly model: string;
  readonly accountId: string;
}

export class OAuthRecords {
  readonly #store: Store;
  readonly #encryption: Encryption;
  readonly #upsert: Statement<NewRecord>;
  readonly #insert: Statement<NewRecord>;
  readonly #update: Statement<NewRecord>;
  readonly #find: Statement<Key>;
  readonly #findByUid: Statement<Key>;
  readonly #findByUserCode: Statement<Key>;
  readonly #consume: Statement<Key>;
  readonly #takeOne: Statement<Key>;
  readonly #page: Statement<RecordPosition>;
  readonly #takeAtPosition: Statement<RecordPosition>;
  readonly #delete: Statement<Key>;
  readonly #deleteByGrant: Statement<Key>;
  readonly #deleteGrant: Statement<string>;
  readonly #deleteAccount: Statement<string>;
  readonly #ofAccount: Statement<AccountKey>;

  constructor(store: Store, encryption: Encryption) {
    this.#store = store;
    this.#encryption = encryption;
    const make = <Input>(query: RawBuilder<unknown>): Statement<Input> =>
      compile(store.dialect.builder, query);
    const id = parameter((key: Key) => hashToken(key.value));
    const key = sql`model = ${parameter(({ model }: Key) => model)} and id = ${id}`;
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
    const assignments = names.slice(2).map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
    this.#upsert = make(sql`${insert} on conflict (model, id) do update set ${sql.join(assignments)}`);
    this.#insert = make(sql`${insert} on conflict (model, id) do nothing returning id`);
    const [ofModel, ofId, ...updates] = names.map(
      (name, position) => sql`${sql.ref(name)} = ${values[position]!}`,
    );
    this.#update = make(
      sql`update oauth_records set ${sql.join(updates)} where ${ofModel!} and ${ofId!} returning id`,
    );
    const select = sql`select payload, consumed_at from oauth_records where`;
    this.#find = make(sql`${select} ${key}`);
    const model = sql`model = ${parameter((key: Key) => key.model)}`;
    this.#findByUid = make(sql`${select} ${model} and uid = ${id}`);
    this.#findByUserCode = make(sql`${select} ${model} and user_code = ${id}`);
    this.#consume = make(
      sql`update oauth_records set consumed_at = ${parameter(epochSeconds)} where ${key} and consumed_at is null returning id`,
    );
    const isAlive = sql`expires_at > ${parameter(epochSeconds)}`;
    this.#takeOne = make(sql`delete from oauth_records where ${key} and ${isAlive} returning payload`);
    const inModel = sql`model = ${parameter(({ model }: RecordPosition) => model)}`;
    const position = parameter(({ id }: RecordPosition) => id);
    this.#page = make(
      sql`select id from oauth_records where ${inModel} and id > ${position} order by id limit ${sql.lit(recordsOfPage)}`,
    );
    this.#takeAtPosition = make(
      sql`delete from oauth_records where ${inModel} and id = ${position} and ${isAlive} returning payload`,
    );
    this.#delete = make(sql`delete from oauth_records where ${key} returning id`);
    this.#deleteByGrant = make(
      sql`delete from oauth_records where ${model} and grant_id = ${parameter((key: Key) => key.value)}`,
    );
    this.#deleteGrant = make(
      sql`delete from oauth_records where grant_id = ${parameter((grantId: string) => grantId)} returning model`,
    );
    this.#deleteAccount = make(
      sql`delete from oauth_records where account_id = ${parameter((accountId: string) => accountId)}`,
    );
    this.#ofAccount = make(
      sql`select payload from oauth_records where model = ${parameter(({ model }: AccountKey) => model)}
        and account_id = ${parameter(({ accountId }: AccountKey) => accountId)} and ${isAlive}`,
    );
  }

  /** Remembers it, in the place of what was remembered under the same value. */
  async put(record: NewRecord, session?: Session): Promise<void> {
    await this.#write(this.#upsert, record, session);
  }

  /** Remembers it once: false where the value is known already. */
  async add(record: NewRecord): Promise<boolean> {
    return (await this.#write(this.#insert, record)).length > 0;
  }

  /** Changes what is remembered under a value: false where nothing is any more. */
  async update(record: NewRecord): Promise<boolean> {
    return (await this.#write(this.#update, record)).length > 0;
  }

  find(model: string, value: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#find, { model, value });
  }

  findByUid(model: string, value: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#findByUid, { model, value });
  }

  findByUserCode(model: string, value: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#findByUserCode, { model, value });
  }

  /** Makes its one use: of all who try, whichever process they ask, one is told that it was theirs. */
  async consume(model: string, value: string): Promise<boolean> {
    return (await this.#write(this.#consume, { model, value })).length > 0;
  }

  /** Takes it out, for the one use that is made of it; undefined where it is gone or its time is over. */
  async take(model: string, value: string, session: Session): Promise<string | undefined> {
    const [row] = await session.query(this.#takeOne, { model, value });
    return row && this.#encryption.decrypt(row[0] as string);
  }

  /** The next records of a model, as the ids under which they are kept; `after` is empty at first. */
  async page(model: string, after: string): Promise<string[]> {
    const rows = await this.#store.database.query(this.#page, { model, id: after });
    return rows.map(([id]) => id as string);
  }

  /** Takes out the record with an id of `page`; undefined where it is gone or its time is over. */
  async takeFromPage(model: string, id: string, session: Session): Promise<string | undefined> {
    const [row] = await session.query(this.#takeAtPosition, { model, id });
    return row && this.#encryption.decrypt(row[0] as string);
  }

  /** Of all who remove the same, one is told that it was theirs. */
  async delete(model: string, value: string, session?: Session): Promise<boolean> {
    return (await this.#write(this.#delete, { model, value }, session)).length > 0;
  }

  async deleteByGrant(model: string, grantId: string): Promise<void> {
    await this.#write(this.#deleteByGrant, { model, value: grantId });
  }

  /** Removes a grant and everything that stands on it; false where there is none. */
  async deleteGrant(grantId: string, session?: Session): Promise<boolean> {
    const removed = await this.#write(this.#deleteGrant, grantId, session);
    return removed.some(([model]) => model === "Grant");
  }

  /** Forgets all that is remembered of a person: sessions, grants and what stands on them, links in mails. */
  async deleteAccount(accountId: string, session: Session): Promise<void> {
    await session.query(this.#deleteAccount, accountId);
  }

  /** What is remembered of a person in one model, as the JSON of each. */
  async ofAccount(
    model: string,
    accountId: string,
    session: Session = this.#store.database,
  ): Promise<string[]> {
    const rows = await session.query(this.#ofAccount, { model, accountId });
    return rows.flatMap(([payload]) => this.#encryption.decrypt(payload as string) ?? []);
  }

  #write<Input>(
    statement: Statement<Input>,
    input: Input,
    within?: Session,
  ): Promise<readonly ColumnValues[]> {
    if (within) return within.query(statement, input);
    return this.#store.transaction((session) => session.query(statement, input));
  }

  async #read(statement: Statement<Key>, key: Key): Promise<StoredRecord | undefined> {
    const [row] = await this.#store.database.query(statement, key);
    const payload = row && this.#encryption.decrypt(row[0] as string);
    if (payload === undefined) return undefined;
    return { payload, consumedAt: row![1] === null ? undefined : Number(row![1]) };
  }
}

/** The only form in which a value is kept. */
export function hashToken(value: string): string {
  return hash("sha256", value, "base64url");
}
