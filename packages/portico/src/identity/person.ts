// The people who sign in: found by address within a tenant, or by id.

import { sql } from "kysely";
import type { Statement } from "../store/database.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { isPassword } from "./password.ts";

export interface Person {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
}

interface Presented {
  readonly tenantId: string;
  readonly email: string;
}

export class People {
  readonly #store: Store;
  readonly #byId: Statement<string>;
  readonly #byEmail: Statement<Presented>;

  constructor(store: Store) {
    this.#store = store;
    const { builder } = store.dialect;
    // The primary key begins with the tenant, and a tenant is one of few.
    this.#byId = compile(
      builder,
      sql`select u.id, u.tenant_id, u.name, u.email from tenants as t
        join users as u on u.tenant_id = t.id and u.id = ${slot((id: string) => id)}`,
    );
    this.#byEmail = compile(
      builder,
      sql`select u.id, u.tenant_id, u.name, u.email, p.hash from users as u
        left join passwords as p on p.tenant_id = u.tenant_id and p.user_id = u.id
        where u.tenant_id = ${slot(({ tenantId }: Presented) => tenantId)}
          and u.email = ${slot(({ email }: Presented) => email.trim().toLowerCase())}`,
    );
  }

  async find(id: string): Promise<Person | undefined> {
    const [row] = await this.#store.database.query(this.#byId, id);
    return row && personOf(row);
  }

  /** Who has this address and this password. Unknown addresses take as long as wrong passwords. */
  async signedIn(tenantId: string, email: string, password: string): Promise<Person | undefined> {
    const [row] = await this.#store.database.query(this.#byEmail, { tenantId, email });
    const isTheirs = await isPassword(password, row?.[4] as string | null | undefined);
    return row && isTheirs ? personOf(row) : undefined;
  }
}

function personOf([id, tenantId, name, email]: readonly unknown[]): Person {
  // The columns of the statements above.
  return { id: id as string, tenantId: tenantId as string, name: name as string, email: email as string };
}
