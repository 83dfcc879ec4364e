// What an invitation requires: nobody with its address is a user or invited already, and not too many emails were sent, so
// that tenants cannot send spam.

import { sql } from "kysely";
import { Problem } from "../../errors.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { OwnHookContext } from "../own-hook-context.ts";
import { invalidCredential } from "../presented-credential.ts";
import { usersTable } from "../users/fields.ts";
import { lockTenant } from "../users/tenant-owners.ts";
import { invitationEmails, invitationsTable } from "./fields.ts";

/** Emails to one address in an hour. */
const addressQuota = { limit: 3, windowMs: 3_600_000 } as const;
/** Emails of a tenant in a day. */
const tenantQuota = { limit: 1_000, windowMs: 86_400_000 } as const;

interface TenantEmail {
  readonly tenantId: string;
  readonly email: string;
}

const userWithEmail = defineQuery([usersTable], (db, { tenantId, email }: ParametersOf<TenantEmail>) =>
  db.selectFrom("users").select("id").where("tenant_no", "=", tenantId).where("email", "=", email),
);

const pendingInvitation = defineQuery(
  [invitationsTable],
  (db, { tenantId, email, now }: ParametersOf<TenantEmail & { now: string }>) =>
    db
      .selectFrom("invitations")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("email", "=", email)
      .where("accepted_at", "is", null)
      .where("withdrawn_at", "is", null)
      .where("expires_at", ">", now)
      .limit(sql.lit(1)),
);

/** The email of an address after which no more may follow in the same window. */
const limitingEmail = defineQuery(
  [invitationEmails],
  (db, { tenantId, email, since }: ParametersOf<TenantEmail & { since: string }>) =>
    db
      .selectFrom("invitation_emails")
      .select("created_at")
      .where("tenant_no", "=", tenantId)
      .where("email", "=", email)
      .where("created_at", ">", since)
      .orderBy("created_at", "desc")
      .limit(sql.lit(1))
      .offset(sql.lit(addressQuota.limit - 1)),
);

const limitingEmailOfTenant = defineQuery(
  [invitationEmails],
  (db, { tenantId, since }: ParametersOf<Pick<TenantEmail, "tenantId"> & { since: string }>) =>
    db
      .selectFrom("invitation_emails")
      .select("created_at")
      .where("tenant_no", "=", tenantId)
      .where("created_at", ">", since)
      .orderBy("created_at", "desc")
      .limit(sql.lit(1))
      .offset(sql.lit(tenantQuota.limit - 1)),
);

/**
 * Requires that the address is new. Until the transaction ends, no other invitation of the tenant is created.
 * @throws Problem `conflict`
 */
export async function requireUninvited(context: OwnHookContext, email: string): Promise<void> {
  const { caller, now, query } = context;
  const { tenantId } = caller;
  if ((await query(lockTenant, { id: tenantId })).length === 0) throw invalidCredential();
  const details = [{ field: "email", issue: "duplicate" }] as const;
  if ((await query(userWithEmail, { tenantId, email })).length > 0)
    throw new Problem("conflict", "A user already has this address.", details);
  if ((await query(pendingInvitation, { tenantId, email, now })).length > 0)
    throw new Problem("conflict", "This address is invited already. Send the email again instead.", details);
}

/** @throws Problem `rate_limited` */
export async function requireEmailQuota(
  { caller, now, query }: OwnHookContext,
  email: string,
): Promise<void> {
  const { tenantId } = caller;
  const sinceOf = (windowMs: number): string => new Date(Date.parse(now) - windowMs).toISOString();
  const [toAddress] = await query(limitingEmail, { tenantId, email, since: sinceOf(addressQuota.windowMs) });
  if (toAddress) throw tooMany(toAddress.created_at, now, addressQuota.windowMs, "this address");
  const [ofTenant] = await query(limitingEmailOfTenant, { tenantId, since: sinceOf(tenantQuota.windowMs) });
  if (ofTenant) throw tooMany(ofTenant.created_at, now, tenantQuota.windowMs, "this tenant");
}

function tooMany(createdAt: string, now: string, windowMs: number, what: string): Problem {
  const seconds = Math.max(1, Math.ceil((Date.parse(createdAt) + windowMs - Date.parse(now)) / 1_000));
  const message = `Too many invitations were sent for ${what}. Wait for the seconds in Retry-After.`;
  return new Problem("rate_limited", message, [], { "Retry-After": String(seconds) });
}
