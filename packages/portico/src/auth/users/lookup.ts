// The people who sign in: found by address within a tenant, or by id.

import { sql } from "kysely";
import { isId } from "../../lib/id.ts";
import type { Session, Statement } from "../../store/database.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { verifyPassword } from "./password.ts";

export interface User {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
  /** Whether they have shown that mail to this address reaches them. */
  readonly isEmailVerified: boolean;
  /** Whether somebody gave them this address after they were added, and it is not confirmed yet. */
  readonly isEmailUnconfirmed: boolean;
}

/** With the spaces around it that are passed over. */
const maxEmailLength = 320;

interface TenantEmail {
  readonly tenantId: string;
  readonly email: string;
}

export class UserLookup {
  readonly #store: Store;
  readonly #byId: Statement<string>;
  readonly #byEmail: Statement<TenantEmail>;

  constructor(store: Store) {
    this.#store = store;
    const { builder } = store.dialect;
    const unconfirmed = sql`exists (select 1 from email_changes as c
      where c.tenant_id = u.tenant_id and c.user_id = u.id and c.email = u.email)`;
    const userSql = sql`u.id, u.tenant_id, u.name, u.email, v.email is not null, ${unconfirmed}`;
    const verified = sql`left join verified_emails as v
      on v.tenant_id = u.tenant_id and v.user_id = u.id and v.email = u.email`;
    // The primary key begins with the tenant, and a tenant is one of few.
    this.#byId = compile(
      builder,
      sql`select ${userSql} from tenants as t
        join users as u on u.tenant_id = t.id and u.id = ${parameter((id: string) => id)} ${verified}`,
    );
    this.#byEmail = compile(
      builder,
      sql`select ${userSql}, p.hash from users as u ${verified}
        left join passwords as p on p.tenant_id = u.tenant_id and p.user_id = u.id
        where u.tenant_id = ${parameter(({ tenantId }: TenantEmail) => tenantId)}
          and u.email = ${parameter(({ email }: TenantEmail) => email.trim().toLowerCase())}`,
    );
  }

  async find(id: string, session: Session = this.#store.database): Promise<User | undefined> {
    if (!isId(id)) return undefined;
    const [row] = await session.query(this.#byId, id);
    return row && userOf(row);
  }

  async findByEmail(
    tenantId: string,
    email: string,
    session: Session = this.#store.database,
  ): Promise<User | undefined> {
    const [row] = isAddress(email) ? await session.query(this.#byEmail, { tenantId, email }) : [];
    return row && userOf(row);
  }

  /** Who has this address and this password. Unknown addresses take as long as wrong passwords. */
  async authenticate(tenantId: string, email: string, password: string): Promise<User | undefined> {
    const presented = { tenantId, email };
    const [row] = isAddress(email) ? await this.#store.database.query(this.#byEmail, presented) : [];
    const isCorrect = await verifyPassword(password, row?.[6] as string | null | undefined);
    return row && isCorrect ? userOf(row) : undefined;
  }
}

/** Whether a text could be the address of somebody; others may hold what a database cannot. */
function isAddress(text: string): boolean {
  return text.length <= maxEmailLength && !text.includes("\0") && text.isWellFormed();
}

function userOf(row: readonly unknown[]): User {
  const [id, tenantId, name, email, isReached, isUnconfirmed] = row;
  // The columns of the statements above; SQLite says 0 and 1.
  const texts = { id, tenantId, name, email } as Pick<User, "id" | "tenantId" | "name" | "email">;
  const isEmailUnconfirmed = Boolean(isUnconfirmed);
  return { ...texts, isEmailVerified: Boolean(isReached) && !isEmailUnconfirmed, isEmailUnconfirmed };
}
