// Links in emails, for resetting a password and for confirming an address. Each works once and for a limited time, and is
// stored as a hash.

import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { AccountEmails, LinkPurpose } from "../../mail/account-emails.ts";
import type { Session, Transaction } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";
import type { OAuthUrls } from "../tokens/oauth-urls.ts";
import { falseIfDeleted } from "./deleted-user.ts";
import type { EmailChanges } from "./email-changes.ts";
import { usersTable } from "./fields.ts";
import type { User, UserLookup } from "./lookup.ts";
import type { Passkeys } from "./passkeys.ts";
import { hashPassword, setPassword } from "./password.ts";
import type { SignInSessions } from "./sign-in-sessions.ts";
import { setVerified } from "./verified-email.ts";

/** Changes the address of a user through the engine. */
export type SetEmail = (session: Transaction, user: User, email: string) => Promise<void>;

/** A user who is deleted or deactivated at the same time gets no link, because their links are deleted then. */
const lockUser = defineQuery(
  [usersTable],
  (db, { tenantId, id }: ParametersOf<Pick<User, "tenantId" | "id">>, { name }) => {
    const user = db
      .selectFrom("users")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id)
      .where("active", "=", sql.lit(true));
    return name === "postgres" ? user.forShare() : user;
  },
);

const models = { password: "PasswordLink", email: "EmailLink" } as const;
const minutes = { password: 30, email: 24 * 60 } as const;

/** A request for a link. */
export interface LinkRequest {
  readonly purpose: LinkPurpose;
  readonly tenantId: string;
  readonly email: string;
  /** The network address of the request. */
  readonly address: string;
}

/** The input of the page for resetting a password. */
export interface NewPassword {
  readonly password: string;
  /** The network address of the request. */
  readonly address: string;
  /** Whether to delete the user's passkeys as well. */
  readonly removesPasskeys: boolean;
}

export const linkRequestModel = "AskedLink";
const linkRequestSeconds = 3_600;
const tokenBytes = 32;

export class EmailLinks {
  readonly #store: Store;
  readonly #records: OAuthRecords;
  readonly #users: UserLookup;
  readonly #passkeys: Passkeys;
  readonly #sessions: SignInSessions;
  readonly #emails: AccountEmails;
  readonly #urls: Promise<OAuthUrls>;
  readonly #changes: EmailChanges;
  readonly #setEmail: SetEmail;

  /**
   * @param urls resolved once the server listens
   * @param setEmail changes the address of a user
   */
  constructor(
    store: Store,
    records: OAuthRecords,
    users: UserLookup,
    passkeys: Passkeys,
    sessions: SignInSessions,
    emails: AccountEmails,
    urls: Promise<OAuthUrls>,
    changes: EmailChanges,
    setEmail: SetEmail,
  ) {
    this.#store = store;
    this.#records = records;
    this.#users = users;
    this.#passkeys = passkeys;
    this.#sessions = sessions;
    this.#emails = emails;
    this.#urls = urls;
    this.#changes = changes;
    this.#setEmail = setEmail;
  }

  /** Stores a request. The account is looked up later, so no response reveals whether it exists. */
  async request(request: LinkRequest): Promise<void> {
    await this.#records.put({
      model: linkRequestModel,
      value: randomBytes(tokenBytes).toString("base64url"),
      payload: JSON.stringify(request),
      expiresAt: epochSeconds() + linkRequestSeconds,
    });
  }

  /** Sends a link to the user's address, or to the one that they want to change to. */
  async send(
    session: Session,
    user: User,
    { purpose, address }: Pick<LinkRequest, "purpose" | "address">,
  ): Promise<void> {
    if ((await lockUser(this.#store).first(session, user)) === undefined) return;
    const token = randomBytes(tokenBytes).toString("base64url");
    const exp = epochSeconds() + minutes[purpose] * 60;
    const link: Link = { accountId: user.id, email: user.email, exp };
    const record = { model: models[purpose], value: token, payload: JSON.stringify(link), expiresAt: exp };
    await this.#records.put({ ...record, accountId: user.id }, session);
    const url = `${(await this.#urls).issuer}/${purpose}?token=${token}`;
    await this.#emails.link(session, user, { purpose, url, minutes: minutes[purpose], address });
  }

  /** The user of a link; undefined if it was used, has expired, or was sent to a previous address. */
  async find(purpose: LinkPurpose, token: string): Promise<ValidLink | undefined> {
    const record = await this.#records.find(models[purpose], token);
    if (!record) return undefined;
    const { accountId, email, exp }: Link = JSON.parse(record.payload);
    const user = exp > epochSeconds() ? await this.#users.find(accountId) : undefined;
    if (!user) return undefined;
    if (user.email === email) {
      // An unconfirmed address may belong to somebody else.
      return purpose === "password" && user.isEmailUnconfirmed ? undefined : { user, email };
    }
    const isPending = purpose === "email" && (await this.#changes.isPending(user, email));
    return isPending ? { user, email } : undefined;
  }

  /** Sets a new password, once for each link, and ends all sessions and grants. @returns false if the link is invalid */
  async resetPassword(token: string, { password, address, removesPasskeys }: NewPassword): Promise<boolean> {
    const record = await this.find("password", token);
    if (!record) return false;
    const { user } = record;
    const hash = await hashPassword(password);
    const resetting = this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.password, token, session)) === undefined) return false;
      const { tenantId, id: userId, email } = user;
      await setPassword(this.#store, session, { tenantId, userId }, hash);
      await setVerified(this.#store, session, { tenantId, userId, email });
      await this.#sessions.endAll(userId, session);
      if (removesPasskeys) await this.#passkeys.deleteAll(user, session);
      await this.#emails.passwordChanged(session, user, address);
      return true;
    });
    return falseIfDeleted(resetting);
  }

  /**
   * Confirms the address that the link was sent to, once for each link, and makes it the user's address if it was pending.
   *
   * @returns false if the link is invalid
   * @throws Problem `conflict` if another user has the address meanwhile
   */
  async verifyEmail(token: string): Promise<boolean> {
    const requested = await this.find("email", token);
    if (!requested) return false;
    // The link does not confirm a change that is made from now on, so only these changes are deleted with it.
    const changes = await this.#changes.ids(requested.user);
    const record = await this.find("email", token);
    if (!record) return false;
    const { user, email } = record;
    const { tenantId, id: userId } = user;
    const verifying = this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.email, token, session)) === undefined) return false;
      if (user.email !== email) await this.#setEmail(session, user, email);
      await this.#changes.delete(user, email, changes, session);
      await setVerified(this.#store, session, { tenantId, userId, email });
      return true;
    });
    return falseIfDeleted(verifying);
  }
}

/** A link that can still be used. */
export interface ValidLink {
  readonly user: User;
  /** The recipient of the link: the user's address, or the one that they want to change to. */
  readonly email: string;
}

/** The stored payload of a link. */
interface Link {
  readonly accountId: string;
  /** The recipient of the link. */
  readonly email: string;
  readonly exp: number;
}
