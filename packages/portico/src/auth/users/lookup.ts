// Finds users by id, or by email address within a tenant, and verifies their passwords.

import type { Kysely } from "kysely";
import { isId } from "../../lib/id.ts";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../../store/own-tables/query.ts";
import type { DatabaseOf } from "../../store/own-tables/table.ts";
import type { Store } from "../../store/store.ts";
import { tenantsTable } from "../../store/tenants.ts";
import { passwordsTable, verifyPassword } from "./password.ts";
import { emailChanges, users } from "./resource.ts";
import { verifiedEmailsTable } from "./verified-email.ts";

export interface User {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
  /** Whether the user has confirmed this address. */
  readonly isEmailVerified: boolean;
  /** Whether the address was changed after the user was created, and is not confirmed yet. */
  readonly isEmailUnconfirmed: boolean;
  readonly role: string;
}

/** Including surrounding spaces, which are ignored. */
const maxEmailLength = 320;

interface TenantEmail {
  readonly tenantId: string;
  readonly email: string;
}

const tables = [tenantsTable, users, emailChanges, verifiedEmailsTable, passwordsTable] as const;

/**
 * Users with the status of their email addresses, and their passwords. The primary key of users begins with the
 * tenant, and there are few tenants, so a user is found by id through them.
 */
function usersWithEmail(db: Kysely<DatabaseOf<typeof tables>>) {
  return db
    .selectFrom("tenants as t")
    .innerJoin("users as u", "u.tenant_no", "t.no")
    .leftJoin("verified_emails as v", (join) =>
      join
        .onRef("v.tenant_no", "=", "u.tenant_no")
        .onRef("v.user_id", "=", "u.id")
        .onRef("v.email", "=", "u.email"),
    )
    .leftJoin("passwords as p", (join) =>
      join.onRef("p.tenant_no", "=", "u.tenant_no").onRef("p.user_id", "=", "u.id"),
    )
    .select(["u.id", "u.tenant_no", "u.name", "u.email", "u.role", "u.active", "p.hash"])
    .select(({ eb, exists, lit, selectFrom }) => [
      eb("v.email", "is not", null).as("is_verified"),
      exists(
        selectFrom("email_changes as c")
          .select(lit(1).as("one"))
          .whereRef("c.tenant_no", "=", "u.tenant_no")
          .whereRef("c.user_id", "=", "u.id")
          .whereRef("c.email", "=", "u.email"),
      ).as("is_unconfirmed"),
    ]);
}

const selectById = defineQuery(tables, (db, { id }: ParametersOf<{ id: string }>) =>
  usersWithEmail(db).where("u.id", "=", id),
);

const selectByEmail = defineQuery(tables, (db, { tenantId, email }: ParametersOf<TenantEmail>) =>
  usersWithEmail(db).where("u.tenant_no", "=", tenantId).where("u.email", "=", email),
);

type UserRow = QueryRow<typeof selectById>;

/** Finds active users, unless a method says otherwise: one who was deactivated is nobody who could sign in. */
export class UserLookup {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async find(id: string, session: Session = this.#store.database): Promise<User | undefined> {
    const row = await this.#rowOfId(id, session);
    return row?.active ? userOf(row) : undefined;
  }

  /** The user with this id, active or not. */
  async findAny(id: string, session: Session = this.#store.database): Promise<User | undefined> {
    const row = await this.#rowOfId(id, session);
    return row && userOf(row);
  }

  async #rowOfId(id: string, session: Session): Promise<UserRow | undefined> {
    return isId(id) ? selectById(this.#store).first(session, { id }) : undefined;
  }

  async findByEmail(
    tenantId: string,
    email: string,
    session: Session = this.#store.database,
  ): Promise<User | undefined> {
    const row = await this.#rowOf(tenantId, email, session);
    return row?.active ? userOf(row) : undefined;
  }

  /** Whether a user, active or not, has this address. */
  async isTaken(tenantId: string, email: string, session: Session): Promise<boolean> {
    return (await this.#rowOf(tenantId, email, session)) !== undefined;
  }

  /** The user with this address and password. Unknown addresses take as long as wrong passwords. */
  async authenticate(tenantId: string, email: string, password: string): Promise<User | undefined> {
    const row = await this.#rowOf(tenantId, email, this.#store.database);
    const isCorrect = await verifyPassword(password, row?.hash);
    return row?.active && isCorrect ? userOf(row) : undefined;
  }

  async #rowOf(tenantId: string, address: string, session: Session): Promise<UserRow | undefined> {
    if (!isAddress(address)) return undefined;
    return selectByEmail(this.#store).first(session, { tenantId, email: address.trim().toLowerCase() });
  }
}

/** Whether a text can be an email address; others may contain characters that the database cannot store. */
function isAddress(text: string): boolean {
  return text.length <= maxEmailLength && !text.includes("\0") && text.isWellFormed();
}

function userOf(row: UserRow): User {
  const { id, tenant_no: tenantId, name, email, role, is_verified, is_unconfirmed } = row;
  // SQLite returns 0 and 1 for the value of a condition.
  const isEmailUnconfirmed = Boolean(is_unconfirmed);
  const isEmailVerified = Boolean(is_verified) && !isEmailUnconfirmed;
  return { id, tenantId, name, email, role, isEmailVerified, isEmailUnconfirmed };
}
