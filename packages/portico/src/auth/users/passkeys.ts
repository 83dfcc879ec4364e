// Passkeys of users (WebAuthn). Only public keys are stored.

import { newId } from "../../lib/id.ts";
import type { AccountEmails } from "../../mail/account-emails.ts";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf, type QueryDefinition } from "../../store/own-tables/query.ts";
import { ownTable } from "../../store/own-tables/table.ts";
import { parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { falseIfDeleted } from "./deleted-user.ts";
import type { User } from "./lookup.ts";

/** Maximum number of passkeys of one user. */
export const maxPasskeys = 20;

export const passkeysTable = ownTable(
  "passkeys",
  {
    tenant_no: "tenant",
    id: "text",
    user_id: "text",
    credential_id: "text",
    public_key: "text",
    counter: "integer",
    name: "text",
    created_at: "timestamp",
    last_used_at: "timestamp?",
  },
  {
    primaryKey: ["tenant_no", "id"],
    indexes: [{ columns: ["credential_id"], isUnique: true }, { columns: ["tenant_no", "user_id"] }],
    foreignKeys: [{ column: "user_id", table: "users", onDelete: "cascade" }],
  },
);

/** A credential that an authenticator created. */
export interface NewPasskey {
  /** base64url */
  readonly credentialId: string;
  /** The COSE key in base64url. */
  readonly publicKey: string;
  /** The signature counter; 0 if the authenticator has none. */
  readonly counter: number;
  /** A label that the user chose. */
  readonly name: string;
}

export interface Passkey extends NewPasskey {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

type Owner = Pick<User, "id" | "tenantId">;

interface UserKey {
  readonly tenantId: string;
  readonly userId: string;
}
interface NewRow extends NewPasskey, UserKey {
  readonly id: string;
  readonly createdAt: string;
}
interface PasskeyUse {
  readonly credentialId: string;
  readonly counter: number;
  readonly usedAt: string;
}
interface PasskeyKey extends UserKey {
  readonly id: string;
}

const columns = [
  "id",
  "user_id as userId",
  "credential_id as credentialId",
  "public_key as publicKey",
  "counter",
  "name",
  "created_at as createdAt",
  "last_used_at as lastUsedAt",
] as const;

const listOfUser = defineQuery([passkeysTable], (db, { tenantId, userId }: ParametersOf<UserKey>) =>
  db
    .selectFrom("passkeys")
    .select(columns)
    .where("tenant_no", "=", tenantId)
    .where("user_id", "=", userId)
    .orderBy("id"),
);

const findByCredential = defineQuery(
  [passkeysTable],
  (db, { credentialId }: ParametersOf<{ credentialId: string }>) =>
    db.selectFrom("passkeys").select(columns).where("credential_id", "=", credentialId),
);

const insertPasskey = defineQuery([passkeysTable], (db, row: ParametersOf<NewRow>) =>
  db
    .insertInto("passkeys")
    .values({
      tenant_no: row.tenantId,
      id: row.id,
      user_id: row.userId,
      credential_id: row.credentialId,
      public_key: row.publicKey,
      counter: row.counter,
      name: row.name,
      created_at: row.createdAt,
    })
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returning("id"),
);

/** Of two uses with the same count, one is of a copy (WebAuthn, section 6.1.1). Authenticators without a count send 0. */
const updateCounter = defineQuery([passkeysTable], (db, use: ParametersOf<PasskeyUse>) => {
  const hasNoCount = parameter(({ counter }: PasskeyUse) => (counter === 0 ? 1 : 0));
  return db
    .updateTable("passkeys")
    .set({ counter: use.counter, last_used_at: use.usedAt })
    .where("credential_id", "=", use.credentialId)
    .where(({ eb, or, and }) =>
      or([eb("counter", "<", use.counter), and([eb("counter", "=", 0), eb(hasNoCount, "=", 1)])]),
    )
    .returning("id");
});

const deletePasskey = defineQuery([passkeysTable], (db, { tenantId, userId, id }: ParametersOf<PasskeyKey>) =>
  db
    .deleteFrom("passkeys")
    .where("tenant_no", "=", tenantId)
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returning("id"),
);

const deleteOfUser = defineQuery([passkeysTable], (db, { tenantId, userId }: ParametersOf<UserKey>) =>
  db.deleteFrom("passkeys").where("tenant_no", "=", tenantId).where("user_id", "=", userId),
);

/** WebAuthn, section 4: up to 1,023 bytes. */
const credentialForm = /^[\w-]{1,1364}$/;

export class Passkeys {
  readonly #store: Store;
  readonly #emails: Pick<AccountEmails, "passkeyAdded">;

  constructor(store: Store, emails: Pick<AccountEmails, "passkeyAdded">) {
    this.#store = store;
    this.#emails = emails;
  }

  /** The passkeys of a user, oldest first. */
  async list(owner: Owner): Promise<readonly Passkey[]> {
    return listOfUser(this.#store).all(this.#store.database, keyOf(owner));
  }

  async find(credentialId: string): Promise<Passkey | undefined> {
    if (!credentialForm.test(credentialId)) return undefined;
    return findByCredential(this.#store).first(this.#store.database, { credentialId });
  }

  /**
   * Adds a passkey and notifies the user by email.
   *
   * @param address the network address of the request
   * @returns false if it exists already, or the user has the maximum number
   */
  async add(owner: User, passkey: NewPasskey, address: string): Promise<boolean> {
    if ((await this.list(owner)).length >= maxPasskeys) return false;
    const adding = this.#store.transaction(async (session) => {
      const row = { ...passkey, ...keyOf(owner), id: newId("passkey"), createdAt: new Date().toISOString() };
      const added = await insertPasskey(this.#store).first(session, row);
      if (added) await this.#emails.passkeyAdded(session, owner, passkey.name, address);
      return added !== undefined;
    });
    return falseIfDeleted(adding);
  }

  /** Stores the new counter and the time of use. @returns false if the counter shows that the passkey was cloned */
  use(credentialId: string, counter: number): Promise<boolean> {
    return this.#write(updateCounter, { credentialId, counter, usedAt: new Date().toISOString() });
  }

  /** @returns false if the user has no such passkey */
  delete(owner: Owner, id: string): Promise<boolean> {
    return this.#write(deletePasskey, { ...keyOf(owner), id });
  }

  async deleteAll(owner: Owner, session: Session): Promise<void> {
    await deleteOfUser(this.#store).run(session, keyOf(owner));
  }

  /** @returns whether a row was written */
  async #write<Row, Input>(query: QueryDefinition<Row, Input>, input: Input): Promise<boolean> {
    const row = await this.#store.transaction((session) => query(this.#store).first(session, input));
    return row !== undefined;
  }
}

function keyOf({ id, tenantId }: Owner): UserKey {
  return { tenantId, userId: id };
}
