// Letters about accounts as mails, written in the transaction of what they tell.

import type { Model } from "../../declare/model.ts";
import type { Session } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import {
  type AccountFacts,
  emailChanged,
  emailLink,
  passkeyAdded,
  passwordChanged,
  passwordGuessed,
  passwordLink,
} from "./account-letters.ts";
import type { Letter } from "./letter.ts";
import { insertMail } from "./mail.ts";
import type { Letterhead } from "./mailed-key-notices.ts";

interface Person {
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
}

/** Another address for the reader. */
interface NewAddress {
  readonly email: string;
  readonly isPending: boolean;
  readonly address: string;
}

/** A link that its reader has asked for. */
interface Link {
  readonly purpose: "password" | "email";
  readonly url: string;
  readonly minutes: number;
  readonly address: string;
}

export class MailedAccountLetters {
  readonly #store: Store;
  readonly #model: Model;
  readonly #letterhead: Letterhead;

  constructor(store: Store, model: Model, letterhead: Letterhead) {
    this.#store = store;
    this.#model = model;
    this.#letterhead = letterhead;
  }

  async link(session: Session, person: Person, { purpose, url, minutes, address }: Link): Promise<void> {
    const write = purpose === "password" ? passwordLink : emailLink;
    const facts = { ...this.#facts(person, address), url, minutes };
    await this.#send(session, person, `account.${purpose}_link`, write(facts));
  }

  async emailChanged(
    session: Session,
    person: Person,
    { email, isPending, address }: NewAddress,
  ): Promise<void> {
    const letter = emailChanged({ ...this.#facts(person, address), newEmail: email, isPending });
    await this.#send(session, person, "account.email_changed", letter);
  }

  async passwordChanged(session: Session, person: Person, address: string): Promise<void> {
    const letter = passwordChanged(this.#facts(person, address));
    await this.#send(session, person, "account.password_changed", letter);
  }

  async passwordGuessed(session: Session, person: Person, address: string): Promise<void> {
    const letter = passwordGuessed(this.#facts(person, address));
    await this.#send(session, person, "account.password_guessed", letter);
  }

  async passkeyAdded(session: Session, person: Person, passkey: string, address: string): Promise<void> {
    const letter = passkeyAdded({ ...this.#facts(person, address), passkey });
    await this.#send(session, person, "account.passkey_added", letter);
  }

  #facts({ name, email }: Person, address: string): AccountFacts {
    return { apiName: this.#letterhead.apiName, name, email, at: new Date().toISOString(), address };
  }

  async #send(session: Session, person: Person, kind: string, letter: Letter): Promise<void> {
    const mail = { ...letter, to: person.email, kind, status: this.#letterhead.status };
    await insertMail(this.#store, session, this.#model, person.tenantId, mail);
  }
}
