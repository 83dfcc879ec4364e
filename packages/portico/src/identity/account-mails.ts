// Writes the mails about accounts that wait to be written: links that people asked for, warnings of guessed passwords,
// and what is done about changed addresses. Each is written by itself: one that fails holds up no other.

import { randomBytes } from "node:crypto";
import type { Session } from "../store/database.ts";
import { OneByOne } from "../store/one-by-one.ts";
import type { Report } from "../store/report.ts";
import type { Store } from "../store/store.ts";
import type { AccountLetters } from "./account-letters.ts";
import type { ChangedUser, EmailChange, EmailChanges } from "./email-changes.ts";
import { type AskedLink, askedModel, type MailedLinks } from "./mailed-links.ts";
import { epochSeconds, type OAuthRecords } from "./oauth-records.ts";
import type { People, Person } from "./person.ts";

/** Apart from links, which an older server that runs beside this one writes as well. */
const warningModel = "AskedWarning";
const warningSeconds = 3_600;
const nameBytes = 32;

/** Old addresses that are told of changes that come together. */
const maxTold = 10;
/** What a mail says of a change that a command made. */
const commandAddress = "a command on the server";

export interface AccountMailParts {
  readonly store: Store;
  readonly records: OAuthRecords;
  readonly people: People;
  readonly letters: AccountLetters;
  readonly links: MailedLinks;
  readonly changes: EmailChanges;
}

/** Whose password is guessed, and from where the last try came. */
export type Warning = Pick<AskedLink, "tenantId" | "email" | "address">;

export class AccountMails {
  readonly #parts: AccountMailParts;
  readonly #asked: OneByOne<string>;
  readonly #warnings: OneByOne<string>;
  readonly #changed: OneByOne<ChangedUser>;

  constructor(parts: AccountMailParts, report: Report) {
    this.#parts = parts;
    const { records, store, changes } = parts;
    const asked = {
      next: (after = "") => records.page(askedModel, after),
      nameOf: (id: string) => id,
      work: (id: string) => store.transaction((session) => this.#answer(session, id)),
    };
    const warnings = {
      next: (after = "") => records.page(warningModel, after),
      nameOf: (id: string) => id,
      work: (id: string) => store.transaction((session) => this.#warn(session, id)),
    };
    const changed = {
      next: (after?: ChangedUser) => changes.page(after?.id ?? ""),
      nameOf: ({ id }: ChangedUser) => id,
      work: (user: ChangedUser) => store.transaction((session) => this.#tell(session, user)),
    };
    this.#asked = new OneByOne(asked, "writing a mail that somebody asked for", report);
    this.#warnings = new OneByOne(warnings, "writing a warning of guessed passwords", report);
    this.#changed = new OneByOne(changed, "writing mails about a changed address", report);
  }

  /** Writes all that wait to be written. */
  async look(): Promise<void> {
    await this.#asked.run();
    await this.#warnings.run();
    await this.#changed.run();
  }

  /** Keeps that somebody guesses a password. Whether there is such a person is looked up later, so that no answer tells. */
  async askWarning({ tenantId, email, address }: Warning): Promise<void> {
    await this.#parts.records.put({
      model: warningModel,
      value: randomBytes(nameBytes).toString("base64url"),
      payload: JSON.stringify({ tenantId, email, address }),
      expiresAt: epochSeconds() + warningSeconds,
    });
  }

  async #warn(session: Session, id: string): Promise<void> {
    const { records, people, letters } = this.#parts;
    const payload = await records.takeFromPage(warningModel, id, session);
    if (payload === undefined) return;
    const { tenantId, email, address }: Warning = JSON.parse(payload);
    const person = await people.findByEmail(tenantId, email, session);
    if (person) await letters.passwordGuessed(session, person, address);
  }

  /** Where there is such a person, they are sent what was asked for. */
  async #answer(session: Session, id: string): Promise<void> {
    const { records, people, links } = this.#parts;
    const payload = await records.takeFromPage(askedModel, id, session);
    if (payload === undefined) return;
    const asked: AskedLink = JSON.parse(payload);
    const person = await people.findByEmail(asked.tenantId, asked.email, session);
    if (!person) return;
    // An address that is not confirmed is confirmed first.
    const purpose = person.isEmailUnconfirmed ? "email" : asked.purpose;
    await links.send(session, person, { ...asked, purpose });
  }

  async #tell(session: Session, user: ChangedUser): Promise<void> {
    const { people, changes } = this.#parts;
    const known = await changes.take(user, session);
    const person = await people.find(user.id, session);
    const taken = known.filter(({ isNew }) => isNew);
    if (!person || taken.length === 0) return;
    await this.#tellPrevious(session, person, taken);
    const present = known.findLast(({ email }) => email === person.email);
    const pending = known.findLast(({ isPending }) => isPending);
    const wanted = [present, pending].filter((each) => each !== undefined);
    for (const { email, address } of new Set(wanted.filter(({ isNew }) => isNew)))
      await this.#sendLink(session, { ...person, email }, address);
    // The newest stays in any case: it says when the person was last written to.
    await changes.forgetOthers(user, [...wanted, known.at(-1)!], session);
  }

  async #tellPrevious(session: Session, person: Person, taken: readonly EmailChange[]): Promise<void> {
    const { letters } = this.#parts;
    const byPrevious = new Map(taken.map((change) => [change.previousEmail, change]));
    for (const [previous, { email, isPending, address }] of [...byPrevious].slice(0, maxTold)) {
      const change = { email, isPending, address: address ?? commandAddress };
      await letters.emailChanged(session, { ...person, email: previous }, change);
    }
  }

  #sendLink(session: Session, person: Person, address: string | null): Promise<void> {
    return this.#parts.links.send(session, person, { purpose: "email", address: address ?? commandAddress });
  }
}
