// The records of the authorization server: codes, refresh tokens, grants, sessions, pending authorizations. A value
// that authorizes something is stored as its hash only; payloads are encrypted.

import type { Encryption } from "../../lib/encryption.ts";
import type { Session } from "../../store/database.ts";
import type { Query } from "../../store/own-tables/query.ts";
import type { Store } from "../../store/store.ts";
import {
  type NewRecord,
  type OAuthRecordStatements,
  oauthRecordStatements,
} from "./oauth-record-statements.ts";

export interface StoredRecord {
  readonly payload: string;
  /** When the record was consumed, in seconds since 1970. */
  readonly consumedAt: number | undefined;
}

export class OAuthRecords {
  readonly #store: Store;
  readonly #encryption: Encryption;
  readonly #statements: OAuthRecordStatements;

  constructor(store: Store, encryption: Encryption) {
    this.#store = store;
    this.#encryption = encryption;
    this.#statements = oauthRecordStatements(store, encryption);
  }

  /** Stores a record, replacing the one with the same model and value. */
  async put(record: NewRecord, session?: Session): Promise<void> {
    await this.#write(this.#statements.upsert, record, session);
  }

  /** Stores a new record. @returns false if the model has a record with this value already */
  async add(record: NewRecord): Promise<boolean> {
    return (await this.#write(this.#statements.insert, record)).length > 0;
  }

  /** Replaces an existing record. @returns false if it no longer exists */
  async update(record: NewRecord): Promise<boolean> {
    return (await this.#write(this.#statements.update, record)).length > 0;
  }

  find(model: string, value: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#statements.find, model, value);
  }

  findByUid(model: string, uid: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#statements.findByUid, model, uid);
  }

  findByUserCode(model: string, userCode: string): Promise<StoredRecord | undefined> {
    return this.#read(this.#statements.findByUserCode, model, userCode);
  }

  /** Marks a record as consumed. Of concurrent calls, in any process, one returns true. */
  async consume(model: string, value: string): Promise<boolean> {
    return (await this.#write(this.#statements.consume, { model, value })).length > 0;
  }

  /** Deletes a single-use record and returns its payload; undefined if it does not exist or has expired. */
  async take(model: string, value: string, session: Session): Promise<string | undefined> {
    const row = await this.#statements.take.first(session, { model, value });
    return row && this.#encryption.decrypt(row.payload);
  }

  /** The next record ids of a model, in order. @param after the last id of the previous page; `""` for the first */
  async pageOfIds(model: string, after: string): Promise<string[]> {
    const rows = await this.#statements.pageOfIds.all(this.#store.database, { model, id: after });
    return rows.map(({ id }) => id);
  }

  /** `take` for a record id that `pageOfIds` returned. */
  async takeById(model: string, id: string, session: Session): Promise<string | undefined> {
    const row = await this.#statements.takeById.first(session, { model, id });
    return row && this.#encryption.decrypt(row.payload);
  }

  /** Of concurrent calls, in any process, one returns true. */
  async delete(model: string, value: string, session?: Session): Promise<boolean> {
    return (await this.#write(this.#statements.delete, { model, value }, session)).length > 0;
  }

  async deleteByGrant(model: string, grantId: string): Promise<void> {
    await this.#write(this.#statements.deleteByGrant, { model, grantId });
  }

  /** Deletes a grant with its codes and tokens. @returns false if there is no such grant */
  async deleteGrant(grantId: string, session?: Session): Promise<boolean> {
    const deleted = await this.#write(this.#statements.deleteGrant, { grantId }, session);
    return deleted.some(({ model }) => model === "Grant");
  }

  /** Deletes all records of a user: sessions, grants with their codes and tokens, links sent by email. */
  async deleteAccount(accountId: string, session: Session): Promise<void> {
    await this.#statements.deleteAccount.run(session, { accountId });
  }

  /** The payloads of a user's records of one model. */
  async listByAccount(
    model: string,
    accountId: string,
    session: Session = this.#store.database,
  ): Promise<string[]> {
    const rows = await this.#statements.listByAccount.all(session, { model, accountId });
    return rows.flatMap(({ payload }) => this.#encryption.decrypt(payload) ?? []);
  }

  #write<Row, Input>(query: Query<Row, Input>, input: Input, outer?: Session): Promise<Row[]> {
    if (outer) return query.all(outer, input);
    return this.#store.transaction((session) => query.all(session, input));
  }

  async #read(
    query: OAuthRecordStatements["find"],
    model: string,
    value: string,
  ): Promise<StoredRecord | undefined> {
    const row = await query.first(this.#store.database, { model, value });
    const payload = row && this.#encryption.decrypt(row.payload);
    return payload === undefined ? undefined : { payload, consumedAt: row!.consumed_at ?? undefined };
  }
}
