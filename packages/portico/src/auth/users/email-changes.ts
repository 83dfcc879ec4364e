// Changes of email addresses (resource.ts). The previous address is notified, the new one gets a confirmation link.

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../store/database.ts";
import type { Dialect } from "../../store/dialect.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { OwnIndex } from "../../store/schema/table.ts";
import type { Store } from "../../store/store.ts";
import type { User } from "./lookup.ts";
import { emailChanges } from "./resource.ts";

/** Minimum time between emails about one user's changes, so that accounts cannot be used to send spam. */
const pauseMs = 5 * 60 * 1_000;
const usersPerPage = 100;

/** Index for finding changes of all tenants for which no email was sent yet. */
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
  /** Whether the current call of `take` took it. */
  readonly isNew: boolean;
}

interface UserEmail extends ChangedUser {
  readonly email: string;
}

interface OtherChanges extends ChangedUser {
  /** The ids of changes as a JSON list. */
  readonly ids: string;
}

interface ConfirmedEmail extends UserEmail, OtherChanges {}

const tables = [emailChanges] as const;

const usersWithChanges = defineQuery(
  tables,
  (db, { after, since }: ParametersOf<{ after: string; since: string }>) =>
    db
      .selectFrom("email_changes as c")
      .distinct()
      .select(["c.user_id as id", "c.tenant_no as tenantId"])
      .where("c.mailed_at", "is", null)
      .where("c.user_id", ">", after)
      .where(({ exists, lit, not, selectFrom }) =>
        not(
          exists(
            selectFrom("email_changes as m")
              .select(lit(1).as("one"))
              .whereRef("m.tenant_no", "=", "c.tenant_no")
              .whereRef("m.user_id", "=", "c.user_id")
              .where("m.mailed_at", ">", since),
          ),
        ),
      )
      .orderBy("c.user_id")
      .limit(sql.lit(usersPerPage)),
);

const markNotified = defineQuery(tables, (db, user: ParametersOf<ChangedUser & { now: string }>) =>
  db
    .updateTable("email_changes")
    .set({ mailed_at: user.now })
    .where("tenant_no", "=", user.tenantId)
    .where("user_id", "=", user.id)
    .where("mailed_at", "is", null)
    .returning("id"),
);

const changesOfUser = defineQuery(tables, (db, user: ParametersOf<ChangedUser>) =>
  db
    .selectFrom("email_changes")
    .select(["id", "email", "previous_email as previousEmail", "is_pending as isPending", "address"])
    .where("tenant_no", "=", user.tenantId)
    .where("user_id", "=", user.id)
    .orderBy("id"),
);

const pendingChange = defineQuery(tables, (db, user: ParametersOf<UserEmail>) =>
  db
    .selectFrom("email_changes")
    .select("id")
    .where("tenant_no", "=", user.tenantId)
    .where("user_id", "=", user.id)
    .where("email", "=", user.email)
    .where("is_pending", "=", sql.lit(true))
    .limit(sql.lit(1)),
);

const deleteConfirmed = defineQuery(tables, (db, user: ParametersOf<ConfirmedEmail>, dialect) =>
  db
    .deleteFrom("email_changes")
    .where("tenant_no", "=", user.tenantId)
    .where("user_id", "=", user.id)
    .where(({ eb, or }) => or([eb("id", "in", idsIn(user.ids, dialect)), eb("email", "=", user.email)])),
);

const deleteOthers = defineQuery(tables, (db, user: ParametersOf<OtherChanges>, dialect) =>
  db
    .deleteFrom("email_changes")
    .where("tenant_no", "=", user.tenantId)
    .where("user_id", "=", user.id)
    .where("id", "not in", idsIn(user.ids, dialect)),
);

function idsIn(ids: RawBuilder<string>, dialect: Dialect): RawBuilder<string> {
  return sql<string>`(${dialect.textsOf(ids)})`;
}

export class EmailChanges {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Users with changes for which no email was sent yet. */
  async page(after: string): Promise<ChangedUser[]> {
    const since = new Date(Date.now() - pauseMs).toISOString();
    return usersWithChanges(this.#store).all(this.#store.database, { after, since });
  }

  /** All changes of a user, oldest first. Marks new ones as taken. */
  async take(user: ChangedUser, session: Session): Promise<EmailChange[]> {
    const marked = await markNotified(this.#store).all(session, { ...user, now: new Date().toISOString() });
    if (marked.length === 0) return [];
    const newIds = new Set(marked.map(({ id }) => id));
    const changes = await changesOfUser(this.#store).all(session, user);
    return changes.map((change) => ({ ...change, isNew: newIds.has(change.id) }));
  }

  /** Whether a change to this address waits for confirmation. */
  async isPending(user: ChangedUser, email: string): Promise<boolean> {
    return (await pendingChange(this.#store).first(this.#store.database, { ...user, email })) !== undefined;
  }

  /** The ids of all changes of a user. */
  async ids(user: ChangedUser): Promise<readonly string[]> {
    const changes = await changesOfUser(this.#store).all(this.#store.database, user);
    return changes.map(({ id }) => id);
  }

  /** Deletes the changes to a confirmed address, and earlier ones. */
  async delete(user: ChangedUser, email: string, before: readonly string[], session: Session): Promise<void> {
    await deleteConfirmed(this.#store).run(session, { ...user, email, ids: JSON.stringify(before) });
  }

  /** Deletes all changes of a user but these. */
  async deleteOthers(user: ChangedUser, kept: readonly EmailChange[], session: Session): Promise<void> {
    const ids = JSON.stringify(kept.map(({ id }) => id));
    await deleteOthers(this.#store).run(session, { ...user, ids });
  }
}
