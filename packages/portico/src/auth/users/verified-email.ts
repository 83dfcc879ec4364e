// The email addresses that users have confirmed. The address itself is stored, so a changed one is not confirmed by it.

import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { ownTable } from "../../store/own-tables/table.ts";
import type { Store } from "../../store/store.ts";

export const verifiedEmailsTable = ownTable(
  "verified_emails",
  { tenant_no: "tenant", user_id: "text", email: "text", verified_at: "timestamp" },
  {
    primaryKey: ["tenant_no", "user_id"],
    foreignKeys: [{ column: "user_id", table: "users", onDelete: "cascade" }],
  },
);

interface VerifiedEmail {
  readonly tenantId: string;
  readonly userId: string;
  readonly email: string;
  readonly verifiedAt: string;
}

const upsertEmail = defineQuery([verifiedEmailsTable], (db, input: ParametersOf<VerifiedEmail>) =>
  db
    .insertInto("verified_emails")
    .values({
      tenant_no: input.tenantId,
      user_id: input.userId,
      email: input.email,
      verified_at: input.verifiedAt,
    })
    .onConflict((conflict) =>
      conflict.columns(["tenant_no", "user_id"]).doUpdateSet(({ ref }) => ({
        email: ref("excluded.email"),
        verified_at: ref("excluded.verified_at"),
      })),
    ),
);

/** Stores that a user has confirmed an address, in the transaction of `session`. */
export async function setVerified(
  store: Store,
  session: Session,
  user: Omit<VerifiedEmail, "verifiedAt">,
): Promise<void> {
  await upsertEmail(store).run(session, { ...user, verifiedAt: new Date().toISOString() });
}
