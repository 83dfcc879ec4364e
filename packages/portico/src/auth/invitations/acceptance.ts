// The links of invitations, and their acceptance. An invitation counts while it is pending and the role of its inviter
// includes the role that it gives.

import { randomBytes } from "node:crypto";
import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import type { Model } from "../../model/model.ts";
import type { Session, Transaction } from "../../store/database.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../../store/own-tables/query.ts";
import type { Store } from "../../store/store.ts";
import { tenantsTable } from "../../store/tenants.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";
import { usersTable } from "../users/fields.ts";
import {
  type AccountDetails,
  type AccountOutcome,
  accountCaller,
  accountOutcome,
  createAccount,
  type RowsIn,
} from "../users/new-account.ts";
import { hashPassword } from "../users/password.ts";
import { scopesOfRole } from "../users/role-rules.ts";
import { invitationsTable } from "./fields.ts";
import type { Invitations } from "./resource.ts";

const linkModel = "InvitationLink";
const tokenBytes = 32;

interface InvitationKey {
  readonly tenantId: string;
  readonly id: string;
}

/** An invitation that can be accepted. */
export interface ValidInvitation extends InvitationKey {
  /** The name of the tenant. */
  readonly tenantName: string;
  readonly email: string;
  readonly role: string;
  readonly expiresAt: string;
  /** Undefined for one of a key without an owner, or of a command. */
  readonly inviterName: string | undefined;
}

const tables = [invitationsTable, tenantsTable, usersTable] as const;

const selectInvitation = defineQuery(tables, (db, { tenantId, id }: ParametersOf<InvitationKey>) =>
  db
    .selectFrom("invitations as i")
    .innerJoin("tenants as t", "t.no", "i.tenant_no")
    .leftJoin("users as u", (join) =>
      join.onRef("u.tenant_no", "=", "i.tenant_no").onRef("u.id", "=", "i.inviter_id"),
    )
    .select(["i.id", "i.tenant_no as tenantId", "i.email", "i.role", "i.expires_at as expiresAt"])
    .select(["i.accepted_at as acceptedAt", "i.withdrawn_at as withdrawnAt", "i.inviter_id as inviterId"])
    .select([
      "t.name as tenantName",
      "u.name as inviterName",
      "u.role as inviterRole",
      "u.active as isActive",
    ])
    .where("i.tenant_no", "=", tenantId)
    .where("i.id", "=", id),
);

/** Of concurrent acceptances, one waits for the other. SQLite has one writer in any case. */
const lockInvitation = defineQuery(tables, (db, { tenantId, id }: ParametersOf<InvitationKey>, { name }) => {
  const invitation = db
    .selectFrom("invitations")
    .select("id")
    .where("tenant_no", "=", tenantId)
    .where("id", "=", id);
  return name === "postgres" ? invitation.forUpdate() : invitation;
});

type InvitationRow = QueryRow<typeof selectInvitation>;

export class InvitationLinks {
  readonly #store: Store;
  readonly #records: OAuthRecords;
  readonly #model: Pick<Model, "roles">;
  readonly #invitations: Invitations;
  readonly #rowsIn: RowsIn;

  constructor(
    store: Store,
    records: OAuthRecords,
    model: Pick<Model, "roles">,
    invitations: Invitations,
    rowsIn: RowsIn,
  ) {
    this.#store = store;
    this.#records = records;
    this.#model = model;
    this.#invitations = invitations;
    this.#rowsIn = rowsIn;
  }

  /** Stores a link to an invitation, as a hash. @returns its token */
  async create(session: Session, { tenantId, id, expiresAt }: ValidInvitation): Promise<string> {
    const token = randomBytes(tokenBytes).toString("base64url");
    await this.#records.put(
      {
        model: linkModel,
        value: token,
        payload: JSON.stringify({ tenantId, id } satisfies InvitationKey),
        expiresAt: Math.ceil(Date.parse(expiresAt) / 1_000),
      },
      session,
    );
    return token;
  }

  /** The invitation of a link; undefined if it cannot be accepted. */
  async findByToken(token: string): Promise<ValidInvitation | undefined> {
    const key = await this.#keyOf(token);
    return key && this.find(key);
  }

  /** An invitation that can be accepted. */
  async find(
    key: InvitationKey,
    session: Session = this.#store.database,
  ): Promise<ValidInvitation | undefined> {
    const row = await selectInvitation(this.#store).first(session, key);
    if (!row || !this.#isValid(row)) return undefined;
    const { id, tenantId, tenantName, email, role, expiresAt, inviterName } = row;
    return {
      id,
      tenantId,
      tenantName,
      email,
      role,
      expiresAt: expiresAt!,
      inviterName: inviterName ?? undefined,
    };
  }

  /**
   * Creates the account of the invited person, once for each invitation.
   * @throws Problem `validation_error` for an invalid name
   */
  async accept(token: string, { name, password }: AccountDetails): Promise<AccountOutcome> {
    const key = await this.#keyOf(token);
    if (!key || !(await this.find(key))) return "invalid";
    const passwordHash = await hashPassword(password);
    return accountOutcome(
      this.#store.transaction(
        async (session): Promise<AccountOutcome> => {
          await lockInvitation(this.#store).run(session, key);
          const invitation = await this.find(key, session);
          if (!invitation) return "invalid";
          await this.#createUser(session, invitation, name, passwordHash);
          return "created";
        },
        { tenantId: key.tenantId },
      ),
    );
  }

  async #createUser(
    session: Transaction,
    { id, tenantId, email, role }: ValidInvitation,
    name: string,
    passwordHash: string,
  ): Promise<void> {
    const account = { tenantId, email, role, name, passwordHash, origin: id };
    const rows = this.#rowsIn(session, accountCaller(this.#model, account));
    await createAccount(this.#store, session, rows, account);
    await rows.update(this.#invitations, id, { acceptedAt: new Date().toISOString() });
  }

  async #keyOf(token: string): Promise<InvitationKey | undefined> {
    const record = await this.#records.find(linkModel, token);
    return record && JSON.parse(record.payload);
  }

  #isValid({ acceptedAt, withdrawnAt, expiresAt, ...invitation }: InvitationRow): boolean {
    if (acceptedAt !== null || withdrawnAt !== null) return false;
    if (expiresAt === null || Date.parse(expiresAt) <= Date.now()) return false;
    return this.#isGivable(invitation);
  }

  /** Whether the role is declared, and its inviter could give it now. */
  #isGivable({
    role,
    inviterId,
    inviterRole,
    isActive,
  }: Pick<InvitationRow, "role" | "inviterId" | "inviterRole" | "isActive">): boolean {
    if (!this.#model.roles.some(({ name }) => name === role)) return false;
    if (inviterId === null) return true;
    const scopes = scopesOfRole(this.#model, inviterRole);
    return (
      isActive === true && scopes.has(usersWriteScope) && scopesOfRole(this.#model, role).isSubsetOf(scopes)
    );
  }
}
