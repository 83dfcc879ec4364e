// Links that people ask for by mail: to choose another password, and to show that mail reaches them. Each works once
// and for a short time, and is kept as its hash.

import { randomBytes } from "node:crypto";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { AccountEmails, LinkPurpose } from "../../mail/account-emails.ts";
import type { Session, Transaction } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthUrls } from "../tokens/access-tokens.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";
import type { EmailChanges } from "./email-changes.ts";
import type { User, UserLookup } from "./lookup.ts";
import type { Passkeys } from "./passkeys.ts";
import { hashPassword, setPassword } from "./password.ts";
import type { SignInSessions } from "./sign-in-sessions.ts";
import { setVerified } from "./verified-email.ts";

/** Gives a user another address, as any write to a user does. */
export type SetEmail = (session: Transaction, user: User, email: string) => Promise<void>;

const models = { password: "PasswordLink", email: "EmailLink" } as const;
const minutes = { password: 30, email: 24 * 60 } as const;

/** A link that is asked for. */
export interface LinkRequest {
  readonly purpose: LinkPurpose;
  readonly tenantId: string;
  readonly email: string;
  /** The network address that asks. */
  readonly address: string;
}

/** What a person chooses who cannot sign in with their password. */
export interface NewPassword {
  readonly password: string;
  /** The network address from which it is chosen. */
  readonly address: string;
  /** Whether the passkeys go that open the account beside it. */
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
   * @param urls known once the server listens
   * @param setEmail gives a user another address
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

  /** Keeps that somebody asks. Whether there is such a person is looked up later, so that no answer tells. */
  async request(request: LinkRequest): Promise<void> {
    await this.#records.put({
      model: linkRequestModel,
      value: randomBytes(tokenBytes).toString("base64url"),
      payload: JSON.stringify(request),
      expiresAt: epochSeconds() + linkRequestSeconds,
    });
  }

  /** Sends a person a link, to an address that is theirs or that they want to have. */
  async send(
    session: Session,
    user: User,
    { purpose, address }: Pick<LinkRequest, "purpose" | "address">,
  ): Promise<void> {
    const token = randomBytes(tokenBytes).toString("base64url");
    const exp = epochSeconds() + minutes[purpose] * 60;
    const link: Link = { accountId: user.id, email: user.email, exp };
    const record = { model: models[purpose], value: token, payload: JSON.stringify(link), expiresAt: exp };
    await this.#records.put({ ...record, accountId: user.id }, session);
    const url = `${(await this.#urls).issuer}/${purpose}?token=${token}`;
    await this.#emails.link(session, user, { purpose, url, minutes: minutes[purpose], address });
  }

  /** Whose link this is; undefined where it was used, is too old, or was sent to an address of before. */
  async find(purpose: LinkPurpose, token: string): Promise<ValidLink | undefined> {
    const record = await this.#records.find(models[purpose], token);
    if (!record) return undefined;
    const { accountId, email, exp }: Link = JSON.parse(record.payload);
    const user = exp > epochSeconds() ? await this.#users.find(accountId) : undefined;
    if (!user) return undefined;
    if (user.email === email) {
      // Whoever reads mail at an address that is not confirmed may be somebody else.
      return purpose === "password" && user.isEmailUnconfirmed ? undefined : { user, email };
    }
    const isPending = purpose === "email" && (await this.#changes.isPending(user, email));
    return isPending ? { user, email } : undefined;
  }

  /** Gives a person another password, once for each link, and ends all that was opened with the old one. */
  async resetPassword(token: string, { password, address, removesPasskeys }: NewPassword): Promise<boolean> {
    const record = await this.find("password", token);
    if (!record) return false;
    const { user } = record;
    const hash = await hashPassword(password);
    return this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.password, token, session)) === undefined) return false;
      const { tenantId, id: userId, email } = user;
      await setPassword(this.#store, session, { tenantId, userId }, hash);
      await setVerified(this.#store, session, { tenantId, userId, email });
      await this.#sessions.endAll(userId, session);
      if (removesPasskeys) await this.#passkeys.deleteAll(user, session);
      await this.#emails.passwordChanged(session, user, address);
      return true;
    });
  }

  /**
   * Keeps that mail reaches a person, once for each link. An address that they wanted to have is theirs from then on.
   *
   * @throws Problem `conflict` where somebody else has it by now
   */
  async verifyEmail(token: string): Promise<boolean> {
    const requested = await this.find("email", token);
    if (!requested) return false;
    // A change that is made from here on is not confirmed by this link, so that it must not be deleted with the others.
    const changes = await this.#changes.ids(requested.user);
    const record = await this.find("email", token);
    if (!record) return false;
    const { user, email } = record;
    const { tenantId, id: userId } = user;
    return this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.email, token, session)) === undefined) return false;
      if (user.email !== email) await this.#setEmail(session, user, email);
      await this.#changes.delete(user, email, changes, session);
      await setVerified(this.#store, session, { tenantId, userId, email });
      return true;
    });
  }
}

/** A link that works. */
export interface ValidLink {
  readonly user: User;
  /** Where it was sent: the person's address, or the one that they want to have. */
  readonly email: string;
}

/** What is kept of a link. */
interface Link {
  readonly accountId: string;
  /** Where it was sent. */
  readonly email: string;
  readonly exp: number;
}
