// What is done about changed addresses (user.ts): the old address is told, and the new one is sent a link to confirm it.

import { type RawBuilder, sql } from "kysely";
import type { Session, Statement } from "../../store/database.ts";
import type { OwnIndex } from "../../store/schema/ddl.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import type { User } from "./lookup.ts";

/** So long after mails about a user's address no more are written: an address is no means to send mail to others. */
const pauseMs = 5 * 60 * 1_000;
const usersPerPage = 100;

/** Where the changes of all tenants are found about which nobody was written to yet. */
export const emailChangeIndexes: readonly OwnIndex[] = [
  {
    table: "email_changes",
    name: "portico_email_changes_mailed_at_user_id",
    columns: [
      { name: "mailed_at", isNullable: true },
      { name: "user_id", isNullable: false },
    ],
    isUnique: false,
  },
];

export type ChangedUser = Pick<User, "id" | "tenantId">;

export interface EmailChange {
  readonly id: string;
  readonly email: string;
  readonly previousEmail: string;
  readonly isPending: boolean;
  readonly address: string | null;
  /** Whether it was taken by the call that answers with it. */
  readonly isNew: boolean;
}

interface RequestedEmail extends ChangedUser {
  readonly email: string;
}

interface ConfirmedEmail extends KeptChanges {
  readonly email: string;
}

interface KeptChanges extends ChangedUser {
  readonly ids: string;
}

export class EmailChanges {
  readonly #store: Store;
  readonly #page: Statement<string>;
  readonly #take: Statement<ChangedUser>;
  readonly #list: Statement<ChangedUser>;
  readonly #isPending: Statement<RequestedEmail>;
  readonly #delete: Statement<ConfirmedEmail>;
  readonly #deleteOthers: Statement<KeptChanges>;

  constructor(store: Store) {
    this.#store = store;
    const make = <Input>(query: RawBuilder<unknown>): Statement<Input> =>
      compile(store.dialect.builder, query);
    const since = parameter(() => new Date(Date.now() - pauseMs).toISOString());
    const ofUser = sql`tenant_id = ${parameter(({ tenantId }: ChangedUser) => tenantId)}
      and user_id = ${parameter(({ id }: ChangedUser) => id)}`;
    this.#page = make(
      sql`select distinct c.user_id, c.tenant_id from email_changes as c
        where c.mailed_at is null and c.user_id > ${parameter((after: string) => after)}
          and not exists (select 1 from email_changes as m
            where m.tenant_id = c.tenant_id and m.user_id = c.user_id and m.mailed_at > ${since})
        order by c.user_id limit ${sql.lit(usersPerPage)}`,
    );
    this.#take = make(
      sql`update email_changes set mailed_at = ${parameter(() => new Date().toISOString())}
        where ${ofUser} and mailed_at is null returning id`,
    );
    this.#list = make(
      sql`select id, email, previous_email, is_pending, address from email_changes where ${ofUser} order by id`,
    );
    this.#isPending = make(
      sql`select 1 from email_changes where ${ofUser} and email = ${parameter(({ email }: RequestedEmail) => email)}
        and is_pending limit 1`,
    );
    const ids = store.dialect.textsOf(parameter((kept: KeptChanges) => kept.ids));
    this.#delete = make(sql`delete from email_changes where ${ofUser}
        and (id in (${ids}) or email = ${parameter(({ email }: ConfirmedEmail) => email)})`);
    this.#deleteOthers = make(sql`delete from email_changes where ${ofUser} and id not in (${ids})`);
  }

  /** Users with changes about which nobody was written to yet. */
  async page(after: string): Promise<ChangedUser[]> {
    const rows = await this.#store.database.query(this.#page, after);
    return rows.map(([id, tenantId]) => ({ id: id as string, tenantId: tenantId as string }));
  }

  /** All changes of a user, oldest first; those that nobody has taken before are taken. */
  async take(user: ChangedUser, session: Session): Promise<EmailChange[]> {
    const taken = new Set((await session.query(this.#take, user)).map(([id]) => id));
    if (taken.size === 0) return [];
    // The columns of the statement.
    const rows = (await session.query(this.#list, user)) as [
      string,
      string,
      string,
      unknown,
      string | null,
    ][];
    return rows.map(([id, email, previousEmail, isPending, address]) => ({
      ...{ id, email, previousEmail, address },
      isPending: Boolean(isPending),
      isNew: taken.has(id),
    }));
  }

  /** Whether a user has asked to have this address. */
  async isPending(user: ChangedUser, email: string): Promise<boolean> {
    return (await this.#store.database.query(this.#isPending, { ...user, email })).length > 0;
  }

  /** The ids of all changes of a user. */
  async ids(user: ChangedUser): Promise<readonly string[]> {
    const rows = await this.#store.database.query(this.#list, user);
    return rows.map(([id]) => id as string);
  }

  /** A user's address is confirmed: deletes the changes to it, and those that were made before. */
  async delete(user: ChangedUser, email: string, before: readonly string[], session: Session): Promise<void> {
    await session.query(this.#delete, { ...user, email, ids: JSON.stringify(before) });
  }

  /** Forgets all changes of a user but these. */
  async deleteOthers(user: ChangedUser, kept: readonly EmailChange[], session: Session): Promise<void> {
    const ids = JSON.stringify(kept.map(({ id }) => id));
    await session.query(this.#deleteOthers, { ...user, ids });
  }
}
