// An account that a person creates by a link in an email, which proves that the address is theirs.

import type { Caller } from "../../declare/caller.ts";
import type { Rows } from "../../declare/rows.ts";
import { Problem } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import type { Transaction } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import { setPassword } from "./password.ts";
import { users } from "./resource.ts";
import { scopesOfRole } from "./role-rules.ts";
import { setVerified } from "./verified-email.ts";

/** The operations on rows in a transaction, on behalf of a caller. */
export type RowsIn = (session: Transaction, caller: Caller) => Rows;

/** What a person enters to create their account. */
export interface AccountDetails {
  readonly name: string;
  /** A password whose length is allowed. */
  readonly password: string;
}

export interface NewAccount {
  readonly tenantId: string;
  readonly email: string;
  readonly role: string;
  readonly name: string;
  readonly passwordHash: string;
  /** What the events of the new user name as its origin. */
  readonly origin: string;
}

/** `taken`: another user has the address. */
export type AccountOutcome = "created" | "invalid" | "taken";

/**
 * Who creates an account: with the scopes of its role and no others, so that nobody gets more than that, not even the
 * first user of a tenant.
 */
export function accountCaller(
  model: Pick<Model, "roles">,
  { tenantId, role, origin }: Pick<NewAccount, "tenantId" | "role" | "origin">,
): Caller {
  const scopes = scopesOfRole(model, role);
  return { kind: "system", tenantId, userId: null, role: null, credentialId: origin, scopes };
}

/**
 * Creates a user with a password and a confirmed address, in the transaction of `session`.
 *
 * @param rows of `accountCaller`
 * @throws Problem `conflict` if another user has the address, `validation_error` for an invalid name
 */
export async function createAccount(
  store: Store,
  session: Transaction,
  rows: Rows,
  { tenantId, email, role, name, passwordHash }: NewAccount,
): Promise<void> {
  const { id: userId } = await rows.create(users, { email, role, name });
  await setPassword(store, session, { tenantId, userId }, passwordHash);
  await setVerified(store, session, { tenantId, userId, email });
}

/**
 * Awaits the creation of an account.
 *
 * @returns `taken` if another user has the address, `invalid` if the tenant was deleted
 */
export async function accountOutcome(creating: Promise<AccountOutcome>): Promise<AccountOutcome> {
  try {
    return await creating;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "conflict") return "taken";
    if (error.code === "invalid_credential") return "invalid";
    throw error;
  }
}
