// The addresses at which people have been reached: what is kept is the address itself, so that another one is not
// verified until it has been shown as well.

import { sql } from "kysely";
import type { Session } from "../../store/database.ts";
import type { Table } from "../../store/schema/ddl.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";

export const verifiedEmailsTable: Table = {
  name: "verified_emails",
  columns: ["tenant_id", "user_id", "email", "verified_at"].map((name) => ({
    name,
    type: name === "verified_at" ? "timestamp" : "text",
    isNullable: false,
    defaultValue: undefined,
    from: "verified_emails",
  })),
  primaryKey: ["tenant_id", "user_id"],
  indexes: [],
  foreignKeys: [{ column: "user_id", table: "users", onDelete: "cascade" }],
  search: undefined,
};

/** Keeps that a user was reached at an address, in the transaction of `session`. */
export async function setVerified(
  store: Store,
  session: Session,
  user: { readonly tenantId: string; readonly userId: string; readonly email: string },
): Promise<void> {
  const { tenantId, userId, email } = user;
  const values = [tenantId, userId, email, new Date().toISOString()].map((value) => parameter(() => value));
  const upsert = compile(
    store.dialect.builder,
    sql`insert into verified_emails (tenant_id, user_id, email, verified_at) values (${sql.join(values)})
      on conflict (tenant_id, user_id) do update set email = excluded.email, verified_at = excluded.verified_at`,
  );
  await session.query(upsert, undefined);
}
