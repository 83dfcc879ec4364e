// Passkeys of people (WebAuthn): public keys with which they sign in. What is kept opens nothing.

import { type RawBuilder, sql } from "kysely";
import { newId } from "../../lib/id.ts";
import type { AccountEmails } from "../../mail/account-emails.ts";
import type { ColumnValues, Session, Statement } from "../../store/database.ts";
import type { Column, Table } from "../../store/schema/ddl.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import type { User } from "./lookup.ts";

/** The most that one person has. */
export const maxPasskeys = 20;

const column = (name: string, type: Column["type"] = "text", isNullable = false): Column => ({
  name,
  type,
  isNullable,
  defaultValue: undefined,
  from: "passkeys",
});

const index = (isUnique: boolean, ...names: string[]) => ({
  name: `portico_passkeys_${names.join("_")}`,
  columns: names.map((name) => ({ name, isNullable: false })),
  isUnique,
});

export const passkeysTable: Table = {
  name: "passkeys",
  columns: [
    column("tenant_id"),
    column("id"),
    column("user_id"),
    column("credential_id"),
    column("public_key"),
    column("counter", "integer"),
    column("name"),
    column("created_at", "timestamp"),
    column("last_used_at", "timestamp", true),
  ],
  primaryKey: ["tenant_id", "id"],
  indexes: [index(true, "credential_id"), index(false, "tenant_id", "user_id")],
  foreignKeys: [{ column: "user_id", table: "users", onDelete: "cascade" }],
  search: undefined,
};

/** What an authenticator has made. */
export interface NewPasskey {
  /** base64url */
  readonly credentialId: string;
  /** The COSE key in base64url. */
  readonly publicKey: string;
  /** How often it was used, as far as the authenticator counts. */
  readonly counter: number;
  /** How its owner calls it. */
  readonly name: string;
}

export interface Passkey extends NewPasskey {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | undefined;
}

type Owner = Pick<User, "id" | "tenantId">;
interface NewPasskeyInput extends NewPasskey {
  readonly owner: Owner;
}
interface PasskeyUse {
  readonly credentialId: string;
  readonly counter: number;
}
interface PasskeyKey {
  readonly owner: Owner;
  readonly id: string;
}

/** WebAuthn, section 4: up to 1,023 bytes. */
const credentialForm = /^[\w-]{1,1364}$/;

export class Passkeys {
  readonly #store: Store;
  readonly #emails: Pick<AccountEmails, "passkeyAdded">;
  readonly #list: Statement<Owner>;
  readonly #find: Statement<string>;
  readonly #add: Statement<NewPasskeyInput>;
  readonly #use: Statement<PasskeyUse>;
  readonly #delete: Statement<PasskeyKey>;
  readonly #deleteAll: Statement<Owner>;

  constructor(store: Store, emails: Pick<AccountEmails, "passkeyAdded">) {
    this.#store = store;
    this.#emails = emails;
    const make = <Input>(query: RawBuilder<unknown>): Statement<Input> =>
      compile(store.dialect.builder, query);
    const now = (): string => new Date().toISOString();
    const read = sql`select id, user_id, credential_id, public_key, counter, name, created_at, last_used_at
      from passkeys`;
    this.#list = make(
      sql`${read} where tenant_id = ${parameter(({ tenantId }: Owner) => tenantId)}
        and user_id = ${parameter(({ id }: Owner) => id)} order by id`,
    );
    this.#find = make(
      sql`${read} where credential_id = ${parameter((credentialId: string) => credentialId)}`,
    );
    const values = [
      parameter(({ owner }: NewPasskeyInput) => owner.tenantId),
      parameter(() => newId("passkey")),
      parameter(({ owner }: NewPasskeyInput) => owner.id),
      parameter(({ credentialId }: NewPasskeyInput) => credentialId),
      parameter(({ publicKey }: NewPasskeyInput) => publicKey),
      parameter(({ counter }: NewPasskeyInput) => counter),
      parameter(({ name }: NewPasskeyInput) => name),
      parameter(now),
    ];
    this.#add = make(
      sql`insert into passkeys (tenant_id, id, user_id, credential_id, public_key, counter, name, created_at)
        values (${sql.join(values)}) on conflict (credential_id) do nothing returning id`,
    );
    // Of two uses with the same count, one is of a copy (WebAuthn, section 6.1.1); 0 is of one that does not count.
    const counter = parameter((use: PasskeyUse) => use.counter);
    this.#use = make(
      sql`update passkeys set counter = ${counter}, last_used_at = ${parameter(now)}
        where credential_id = ${parameter(({ credentialId }: PasskeyUse) => credentialId)}
          and (counter < ${counter} or (counter = 0 and ${parameter((use: PasskeyUse) => (use.counter === 0 ? 1 : 0))} = 1))
        returning id`,
    );
    this.#delete = make(
      sql`delete from passkeys where tenant_id = ${parameter(({ owner }: PasskeyKey) => owner.tenantId)}
        and user_id = ${parameter(({ owner }: PasskeyKey) => owner.id)} and id = ${parameter(({ id }: PasskeyKey) => id)}
        returning id`,
    );
    this.#deleteAll = make(
      sql`delete from passkeys where tenant_id = ${parameter(({ tenantId }: Owner) => tenantId)}
        and user_id = ${parameter(({ id }: Owner) => id)}`,
    );
  }

  /** Those of a person, the first one first. */
  async list(owner: Owner): Promise<readonly Passkey[]> {
    return (await this.#store.database.query(this.#list, owner)).map(passkeyOf);
  }

  async find(credentialId: string): Promise<Passkey | undefined> {
    if (!credentialForm.test(credentialId)) return undefined;
    const [row] = await this.#store.database.query(this.#find, credentialId);
    return row && passkeyOf(row);
  }

  /**
   * Keeps one for a person, and tells them; false where it is known already, or they have as many as may be.
   *
   * @param address the network address from which it is added
   */
  async add(owner: User, passkey: NewPasskey, address: string): Promise<boolean> {
    if ((await this.list(owner)).length >= maxPasskeys) return false;
    return this.#store.transaction(async (session) => {
      const added = await session.query(this.#add, { ...passkey, owner });
      if (added.length > 0) await this.#emails.passkeyAdded(session, owner, passkey.name, address);
      return added.length > 0;
    });
  }

  /** Keeps that one was used; false where its count says that it is a copy. */
  use(credentialId: string, counter: number): Promise<boolean> {
    return this.#write(this.#use, { credentialId, counter });
  }

  /** False where the person has no such passkey. */
  delete(owner: Owner, id: string): Promise<boolean> {
    return this.#write(this.#delete, { owner, id });
  }

  async deleteAll(owner: Owner, session: Session): Promise<void> {
    await session.query(this.#deleteAll, owner);
  }

  async #write<Input>(statement: Statement<Input>, input: Input): Promise<boolean> {
    return (await this.#store.transaction((session) => session.query(statement, input))).length > 0;
  }
}

function passkeyOf(row: ColumnValues): Passkey {
  // The columns of the statements above.
  const [id, userId, credentialId, publicKey, counter, name, createdAt, lastUsedAt] =
    row as readonly string[];
  return {
    ...{ id: id!, userId: userId!, credentialId: credentialId!, publicKey: publicKey!, name: name! },
    counter: Number(counter),
    createdAt: new Date(createdAt!).toISOString(),
    lastUsedAt: lastUsedAt ? new Date(lastUsedAt).toISOString() : undefined,
  };
}
