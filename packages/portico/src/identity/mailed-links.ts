// Links that people ask for by mail: to choose another password, and to show that mail reaches them. Each works once
// and for a short time, and is kept as its hash.

import { randomBytes } from "node:crypto";
import type { Session, Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { OAuthUrls } from "./access-token.ts";
import type { AccountLetters, LinkPurpose } from "./account-letters.ts";
import type { EmailChanges } from "./email-changes.ts";
import { epochSeconds, type OAuthRecords } from "./oauth-records.ts";
import type { Passkeys } from "./passkeys.ts";
import { hashPassword, setPassword } from "./password.ts";
import type { People, Person } from "./person.ts";
import type { SignInSessions } from "./sign-in-sessions.ts";
import { setVerified } from "./verified-email.ts";

/** Gives a user another address, as any write to a user does. */
export type SetEmail = (session: Transaction, user: Person, email: string) => Promise<void>;

const models = { password: "PasswordLink", email: "EmailLink" } as const;
const minutes = { password: 30, email: 24 * 60 } as const;

/** A link that is asked for. */
export interface AskedLink {
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

export const askedModel = "AskedLink";
const askedSeconds = 3_600;
const tokenBytes = 32;

export class MailedLinks {
  readonly #store: Store;
  readonly #records: OAuthRecords;
  readonly #people: People;
  readonly #passkeys: Passkeys;
  readonly #sessions: SignInSessions;
  readonly #letters: AccountLetters;
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
    people: People,
    passkeys: Passkeys,
    sessions: SignInSessions,
    letters: AccountLetters,
    urls: Promise<OAuthUrls>,
    changes: EmailChanges,
    setEmail: SetEmail,
  ) {
    this.#store = store;
    this.#records = records;
    this.#people = people;
    this.#passkeys = passkeys;
    this.#sessions = sessions;
    this.#letters = letters;
    this.#urls = urls;
    this.#changes = changes;
    this.#setEmail = setEmail;
  }

  /** Keeps that somebody asks. Whether there is such a person is looked up later, so that no answer tells. */
  async ask(asked: AskedLink): Promise<void> {
    await this.#records.put({
      model: askedModel,
      value: randomBytes(tokenBytes).toString("base64url"),
      payload: JSON.stringify(asked),
      expiresAt: epochSeconds() + askedSeconds,
    });
  }

  /** Sends a person a link, to an address that is theirs or that they want to have. */
  async send(
    session: Session,
    person: Person,
    { purpose, address }: Pick<AskedLink, "purpose" | "address">,
  ): Promise<void> {
    const token = randomBytes(tokenBytes).toString("base64url");
    const exp = epochSeconds() + minutes[purpose] * 60;
    const link: Link = { accountId: person.id, email: person.email, exp };
    const record = { model: models[purpose], value: token, payload: JSON.stringify(link), expiresAt: exp };
    await this.#records.put({ ...record, accountId: person.id }, session);
    const url = `${(await this.#urls).issuer}/${purpose}?token=${token}`;
    await this.#letters.link(session, person, { purpose, url, minutes: minutes[purpose], address });
  }

  /** Whose link this is; undefined where it was used, is too old, or was sent to an address of before. */
  async find(purpose: LinkPurpose, token: string): Promise<FoundLink | undefined> {
    const found = await this.#records.find(models[purpose], token);
    if (!found) return undefined;
    const { accountId, email, exp }: Link = JSON.parse(found.payload);
    const person = exp > epochSeconds() ? await this.#people.find(accountId) : undefined;
    if (!person) return undefined;
    if (person.email === email) {
      // Whoever reads mail at an address that is not confirmed may be somebody else.
      return purpose === "password" && person.isEmailUnconfirmed ? undefined : { person, email };
    }
    const isPending = purpose === "email" && (await this.#changes.isPending(person, email));
    return isPending ? { person, email } : undefined;
  }

  /** Gives a person another password, once for each link, and ends all that was opened with the old one. */
  async resetPassword(token: string, { password, address, removesPasskeys }: NewPassword): Promise<boolean> {
    const found = await this.find("password", token);
    if (!found) return false;
    const { person } = found;
    const hash = await hashPassword(password);
    return this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.password, token, session)) === undefined) return false;
      const { tenantId, id: userId, email } = person;
      await setPassword(this.#store, session, { tenantId, userId }, hash);
      await setVerified(this.#store, session, { tenantId, userId, email });
      await this.#sessions.endAll(userId, session);
      if (removesPasskeys) await this.#passkeys.removeAll(person, session);
      await this.#letters.passwordChanged(session, person, address);
      return true;
    });
  }

  /**
   * Keeps that mail reaches a person, once for each link. An address that they wanted to have is theirs from then on.
   *
   * @throws Problem `conflict` where somebody else has it by now
   */
  async verifyEmail(token: string): Promise<boolean> {
    const found = await this.find("email", token);
    if (!found) return false;
    const { person, email } = found;
    const { tenantId, id: userId } = person;
    return this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.email, token, session)) === undefined) return false;
      if (person.email !== email) await this.#setEmail(session, person, email);
      await this.#changes.forget(person, session);
      await setVerified(this.#store, session, { tenantId, userId, email });
      return true;
    });
  }
}

/** A link that works. */
export interface FoundLink {
  readonly person: Person;
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
