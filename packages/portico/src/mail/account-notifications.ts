// Letters about accounts as mails, written in the transaction of what they tell.

import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import type { EmailSettings } from "./key-notifications.ts";
import { insertMail } from "./message.ts";
import {
  type AccountFacts,
  confirmationLinkEmail,
  emailChanged,
  passkeyAddedEmail,
  passwordChangedEmail,
  passwordGuessed,
  passwordLinkEmail,
} from "./templates/account-emails.ts";
import type { Email } from "./templates/layout.ts";

interface Recipient {
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

export class MailedAccountEmails {
  readonly #store: Store;
  readonly #model: Model;
  readonly #settings: EmailSettings;

  constructor(store: Store, model: Model, settings: EmailSettings) {
    this.#store = store;
    this.#model = model;
    this.#settings = settings;
  }

  async link(
    session: Session,
    recipient: Recipient,
    { purpose, url, minutes, address }: Link,
  ): Promise<void> {
    const render = purpose === "password" ? passwordLinkEmail : confirmationLinkEmail;
    const facts = { ...this.#facts(recipient, address), url, minutes };
    await this.#send(session, recipient, `account.${purpose}_link`, render(facts));
  }

  async emailChanged(
    session: Session,
    recipient: Recipient,
    { email, isPending, address }: NewAddress,
  ): Promise<void> {
    const message = emailChanged({ ...this.#facts(recipient, address), newEmail: email, isPending });
    await this.#send(session, recipient, "account.email_changed", message);
  }

  async passwordChanged(session: Session, recipient: Recipient, address: string): Promise<void> {
    const message = passwordChangedEmail(this.#facts(recipient, address));
    await this.#send(session, recipient, "account.password_changed", message);
  }

  async passwordGuessed(session: Session, recipient: Recipient, address: string): Promise<void> {
    const message = passwordGuessed(this.#facts(recipient, address));
    await this.#send(session, recipient, "account.password_guessed", message);
  }

  async passkeyAdded(
    session: Session,
    recipient: Recipient,
    passkey: string,
    address: string,
  ): Promise<void> {
    const message = passkeyAddedEmail({ ...this.#facts(recipient, address), passkey });
    await this.#send(session, recipient, "account.passkey_added", message);
  }

  #facts({ name, email }: Recipient, address: string): AccountFacts {
    return { apiName: this.#settings.apiName, name, email, at: new Date().toISOString(), address };
  }

  async #send(session: Session, recipient: Recipient, kind: string, message: Email): Promise<void> {
    const mail = { ...message, to: recipient.email, kind, status: this.#settings.status };
    await insertMail(this.#store, session, this.#model, recipient.tenantId, mail);
  }
}
