// Links that people ask for by mail: to choose another password, and to show that mail reaches them. Each works once
// and for a short time, and is kept as its hash.

import { randomBytes } from "node:crypto";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { OAuthUrls } from "./access-token.ts";
import type { AccountLetters, LinkPurpose } from "./account-letters.ts";
import { epochSeconds, type OAuthRecords } from "./oauth-records.ts";
import type { Passkeys } from "./passkeys.ts";
import { hashPassword, setPassword } from "./password.ts";
import type { People, Person } from "./person.ts";
import type { SignInSessions } from "./sign-in-sessions.ts";
import { setVerified } from "./verified-email.ts";

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

const askedModel = "AskedLink";
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

  /** @param urls known once the server listens */
  constructor(
    store: Store,
    records: OAuthRecords,
    people: People,
    passkeys: Passkeys,
    sessions: SignInSessions,
    letters: AccountLetters,
    urls: Promise<OAuthUrls>,
  ) {
    this.#store = store;
    this.#records = records;
    this.#people = people;
    this.#passkeys = passkeys;
    this.#sessions = sessions;
    this.#letters = letters;
    this.#urls = urls;
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

  /** Writes the mails that were asked for. */
  async look(): Promise<void> {
    while (await this.#records.isAny(askedModel)) {
      await this.#store.transaction(async (session) => {
        for (const payload of await this.#records.takeSome(askedModel, session))
          await this.#write(session, JSON.parse(payload));
      });
    }
  }

  /** Whose link this is; undefined where it was used, is too old, or was sent to an address of before. */
  async personOf(purpose: LinkPurpose, token: string): Promise<Person | undefined> {
    const found = await this.#records.find(models[purpose], token);
    if (!found) return undefined;
    const { accountId, email, exp }: Link = JSON.parse(found.payload);
    const person = exp > epochSeconds() ? await this.#people.find(accountId) : undefined;
    return person?.email === email ? person : undefined;
  }

  /** Gives a person another password, once for each link, and ends all that was opened with the old one. */
  async resetPassword(token: string, { password, address, removesPasskeys }: NewPassword): Promise<boolean> {
    const person = await this.personOf("password", token);
    if (!person) return false;
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

  /** Keeps that mail reaches a person, once for each link. */
  async verifyEmail(token: string): Promise<boolean> {
    const person = await this.personOf("email", token);
    if (!person) return false;
    return this.#store.transaction(async (session) => {
      if ((await this.#records.take(models.email, token, session)) === undefined) return false;
      const { tenantId, id: userId, email } = person;
      await setVerified(this.#store, session, { tenantId, userId, email });
      return true;
    });
  }

  async #write(session: Session, { purpose, tenantId, email, address }: AskedLink): Promise<void> {
    const person = await this.#people.findByEmail(tenantId, email, session);
    if (!person) return;
    const token = randomBytes(tokenBytes).toString("base64url");
    const exp = epochSeconds() + minutes[purpose] * 60;
    const link: Link = { accountId: person.id, email: person.email, exp };
    const record = { model: models[purpose], value: token, payload: JSON.stringify(link), expiresAt: exp };
    await this.#records.put({ ...record, accountId: person.id }, session);
    const url = `${(await this.#urls).issuer}/${purpose}?token=${token}`;
    await this.#letters.link(session, person, { purpose, url, minutes: minutes[purpose], address });
  }
}

/** What is kept of a link. */
interface Link {
  readonly accountId: string;
  /** Where it was sent. */
  readonly email: string;
  readonly exp: number;
}
