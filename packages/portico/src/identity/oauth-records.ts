// What the authorization server remembers: codes, refresh tokens, grants, sessions, requests under way. A value that
// opens something is kept as its hash only, and what belongs to it is sealed.

import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { ColumnValues, Session, Statement } from "../store/database.ts";
import type { Expiry } from "../store/purge.ts";
import type { Column, Table } from "../store/schema.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { Seal } from "./seal.ts";

/** Records that one page of `page` has. */
const recordsOfPage = 100;

/** Seconds since 1970, as all times of OAuth are. */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** What has expired is told apart from what never was for a minute longer. */
export const oauthExpiry: Expiry = {
  table: "oauth_records",
  keptMs: 60_000,
  over: (place, before) => sql`select ${place} from oauth_records where expires_at < ${before}`,
  encode: (moment) => Math.floor(moment / 1000),
};

const column = (name: string, type: Column["type"] = "text", isNullable = false): Column => ({
  name,
  type,
  isNullable,
  fill: undefined,
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

export interface FoundRecord {
  readonly payload: string;
  /** When its one use was made. */
  readonly consumedAt: number | undefined;
}

interface Key {
  readonly model: string;
  readonly value: string;
}

/** Where a record is kept. */
interface Place {
  readonly model: string;
  readonly id: string;
}

interface Owned {
  readonly model: string;
  readonly accountId: string;
}

export class OAuthRecords {
  readonly #store: Store;
  readonly #seal: Seal;
  readonly #upsert: Statement<NewRecord>;
  readonly #insert: Statement<NewRecord>;
  readonly #change: Statement<NewRecord>;
  readonly #find: Statement<Key>;
  readonly #findByUid: Statement<Key>;
  readonly #findByUserCode: Statement<Key>;
  readonly #consume: Statement<Key>;
  readonly #take: Statement<Key>;
  readonly #page: Statement<Place>;
  readonly #takePlace: Statement<Place>;
  readonly #destroy: Statement<Key>;
  readonly #destroyByGrant: Statement<Key>;
  readonly #destroyGrant: Statement<string>;
  readonly #destroyAccount: Statement<string>;
  readonly #ofAccount: Statement<Owned>;

  constructor(store: Store, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
    const make = <Input>(query: RawBuilder<unknown>): Statement<Input> =>
      compile(store.dialect.builder, query);
    const id = slot((key: Key) => kept(key.value));
    const key = sql`model = ${slot(({ model }: Key) => model)} and id = ${id}`;
    const values = [
      slot((made: NewRecord) => made.model),
      slot((made: NewRecord) => kept(made.value)),
      slot((made: NewRecord) => seal.close(made.payload)),
      slot((made: NewRecord) => made.grantId ?? null),
      slot((made: NewRecord) => made.accountId ?? null),
      slot((made: NewRecord) => (made.uid === undefined ? null : kept(made.uid))),
      slot((made: NewRecord) => (made.userCode === undefined ? null : kept(made.userCode))),
      slot((made: NewRecord) => made.expiresAt),
    ];
    const names = ["model", "id", "payload", "grant_id", "account_id", "uid", "user_code", "expires_at"];
    const insert = sql`insert into oauth_records (${sql.join(names.map((name) => sql.ref(name)))})
      values (${sql.join(values)})`;
    const replaced = names.slice(2).map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
    this.#upsert = make(sql`${insert} on conflict (model, id) do update set ${sql.join(replaced)}`);
    this.#insert = make(sql`${insert} on conflict (model, id) do nothing returning id`);
    const [ofModel, ofId, ...changed] = names.map((name, place) => sql`${sql.ref(name)} = ${values[place]!}`);
    this.#change = make(
      sql`update oauth_records set ${sql.join(changed)} where ${ofModel!} and ${ofId!} returning id`,
    );
    const found = sql`select payload, consumed_at from oauth_records where`;
    this.#find = make(sql`${found} ${key}`);
    const model = sql`model = ${slot((key: Key) => key.model)}`;
    this.#findByUid = make(sql`${found} ${model} and uid = ${id}`);
    this.#findByUserCode = make(sql`${found} ${model} and user_code = ${id}`);
    this.#consume = make(
      sql`update oauth_records set consumed_at = ${slot(epochSeconds)} where ${key} and consumed_at is null returning id`,
    );
    const isAlive = sql`expires_at > ${slot(epochSeconds)}`;
    this.#take = make(sql`delete from oauth_records where ${key} and ${isAlive} returning payload`);
    const inModel = sql`model = ${slot(({ model }: Place) => model)}`;
    const place = slot(({ id }: Place) => id);
    this.#page = make(
      sql`select id from oauth_records where ${inModel} and id > ${place} order by id limit ${sql.lit(recordsOfPage)}`,
    );
    this.#takePlace = make(
      sql`delete from oauth_records where ${inModel} and id = ${place} and ${isAlive} returning payload`,
    );
    this.#destroy = make(sql`delete from oauth_records where ${key} returning id`);
    this.#destroyByGrant = make(
      sql`delete from oauth_records where ${model} and grant_id = ${slot((key: Key) => key.value)}`,
    );
    this.#destroyGrant = make(
      sql`delete from oauth_records where grant_id = ${slot((grantId: string) => grantId)} returning model`,
    );
    this.#destroyAccount = make(
      sql`delete from oauth_records where account_id = ${slot((accountId: string) => accountId)}`,
    );
    this.#ofAccount = make(
      sql`select payload from oauth_records where model = ${slot(({ model }: Owned) => model)}
        and account_id = ${slot(({ accountId }: Owned) => accountId)} and ${isAlive}`,
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
  async change(record: NewRecord): Promise<boolean> {
    return (await this.#write(this.#change, record)).length > 0;
  }

  find(model: string, value: string): Promise<FoundRecord | undefined> {
    return this.#read(this.#find, { model, value });
  }

  findByUid(model: string, value: string): Promise<FoundRecord | undefined> {
    return this.#read(this.#findByUid, { model, value });
  }

  findByUserCode(model: string, value: string): Promise<FoundRecord | undefined> {
    return this.#read(this.#findByUserCode, { model, value });
  }

  /** Makes its one use: of all who try, whichever process they ask, one is told that it was theirs. */
  async consume(model: string, value: string): Promise<boolean> {
    return (await this.#write(this.#consume, { model, value })).length > 0;
  }

  /** Takes it out, for the one use that is made of it; undefined where it is gone or its time is over. */
  async take(model: string, value: string, session: Session): Promise<string | undefined> {
    const [row] = await session.query(this.#take, { model, value });
    return row && this.#seal.open(row[0] as string);
  }

  /** The next records of a model, as the ids under which they are kept; `after` is empty at first. */
  async page(model: string, after: string): Promise<string[]> {
    const rows = await this.#store.database.query(this.#page, { model, id: after });
    return rows.map(([id]) => id as string);
  }

  /** Takes out the record with an id of `page`; undefined where it is gone or its time is over. */
  async takeFromPage(model: string, id: string, session: Session): Promise<string | undefined> {
    const [row] = await session.query(this.#takePlace, { model, id });
    return row && this.#seal.open(row[0] as string);
  }

  /** Of all who remove the same, one is told that it was theirs. */
  async remove(model: string, value: string, session?: Session): Promise<boolean> {
    return (await this.#write(this.#destroy, { model, value }, session)).length > 0;
  }

  async removeByGrant(model: string, grantId: string): Promise<void> {
    await this.#write(this.#destroyByGrant, { model, value: grantId });
  }

  /** Removes a grant and everything that stands on it; false where there is none. */
  async removeGrant(grantId: string, session?: Session): Promise<boolean> {
    const removed = await this.#write(this.#destroyGrant, grantId, session);
    return removed.some(([model]) => model === "Grant");
  }

  /** Forgets all that is remembered of a person: sessions, grants and what stands on them, links in mails. */
  async removeAccount(accountId: string, session: Session): Promise<void> {
    await session.query(this.#destroyAccount, accountId);
  }

  /** What is remembered of a person in one model, as the JSON of each. */
  async ofAccount(
    model: string,
    accountId: string,
    session: Session = this.#store.database,
  ): Promise<string[]> {
    const rows = await session.query(this.#ofAccount, { model, accountId });
    return rows.flatMap(([payload]) => this.#seal.open(payload as string) ?? []);
  }

  #write<Input>(
    statement: Statement<Input>,
    input: Input,
    within?: Session,
  ): Promise<readonly ColumnValues[]> {
    if (within) return within.query(statement, input);
    return this.#store.transaction((session) => session.query(statement, input));
  }

  async #read(statement: Statement<Key>, key: Key): Promise<FoundRecord | undefined> {
    const [row] = await this.#store.database.query(statement, key);
    const payload = row && this.#seal.open(row[0] as string);
    if (payload === undefined) return undefined;
    return { payload, consumedAt: row![1] === null ? undefined : Number(row![1]) };
  }
}

/** The only form in which a value is kept. */
export function kept(value: string): string {
  return hash("sha256", value, "base64url");
}
