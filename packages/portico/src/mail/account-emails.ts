// Emails to users about their own account. Each is written in the transaction of the change that causes it.

import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { type EmailSettings, insertEmail } from "./message.ts";
import {
  type AccountFacts,
  confirmationLinkEmail,
  emailChangedEmail,
  invitationEmail,
  passkeyAddedEmail,
  passwordChangedEmail,
  passwordGuessingEmail,
  passwordLinkEmail,
  signUpLinkEmail,
  signUpRefusedEmail,
} from "./templates/account-emails.ts";
import type { Email } from "./templates/layout.ts";

export interface Recipient {
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
}

/** What a link lets the recipient do. It is also the last segment of the link's path. */
export type LinkPurpose = "password" | "email";

export interface AccountLink {
  readonly purpose: LinkPurpose;
  readonly url: string;
  /** How long the link is valid. */
  readonly minutes: number;
  /** The network address of the request for the link. */
  readonly address: string;
}

/** An invitation with its link. */
export interface InvitationLink {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly email: string;
  readonly role: string;
  readonly expiresAt: string;
  /** Undefined if no user invites. */
  readonly inviterName: string | undefined;
  readonly url: string;
}

export interface EmailAddressChange {
  readonly email: string;
  /** Whether the new address still has to be confirmed. Until then, the previous one stays in use. */
  readonly isPending: boolean;
  /** The network address of the request that changed it. */
  readonly address: string;
}

export class AccountEmails {
  readonly #store: Store;
  readonly #model: Model;
  readonly #settings: EmailSettings;

  constructor(store: Store, model: Model, settings: EmailSettings) {
    this.#store = store;
    this.#model = model;
    this.#settings = settings;
  }

  /** Sends a link to set a password or to confirm an email address. */
  async link(
    session: Session,
    recipient: Recipient,
    { purpose, url, minutes, address }: AccountLink,
  ): Promise<void> {
    const render = purpose === "password" ? passwordLinkEmail : confirmationLinkEmail;
    const facts = { ...this.#facts(recipient, address), url, minutes };
    await this.#send(session, recipient, `account.${purpose}_link`, render(facts));
  }

  async invitation(session: Session, { tenantId, email, ...invitation }: InvitationLink): Promise<void> {
    const { apiName } = this.#settings;
    const message = invitationEmail({ ...invitation, email, apiName });
    await this.#send(session, { tenantId, email }, "account.invitation", message);
  }

  /** Sends a link to create an account to a person who has none. */
  async signUpLink(
    session: Session,
    recipient: Omit<Recipient, "name">,
    { url, minutes, address }: Omit<AccountLink, "purpose">,
  ): Promise<void> {
    const facts = { ...this.#facts({ ...recipient, name: "" }, address), url, minutes };
    await this.#send(session, recipient, "account.sign_up_link", signUpLinkEmail(facts));
  }

  /** Reports to a user that somebody tried to create an account with their address. */
  async signUpRefused(session: Session, recipient: Recipient, address: string): Promise<void> {
    const message = signUpRefusedEmail(this.#facts(recipient, address));
    await this.#send(session, recipient, "account.sign_up_refused", message);
  }

  /**
   * Reports a changed email address to the previous one.
   *
   * @param recipient with the previous address
   */
  async emailChanged(
    session: Session,
    recipient: Recipient,
    { email, isPending, address }: EmailAddressChange,
  ): Promise<void> {
    const message = emailChangedEmail({ ...this.#facts(recipient, address), newEmail: email, isPending });
    await this.#send(session, recipient, "account.email_changed", message);
  }

  /** @param address the network address of the request */
  async passwordChanged(session: Session, recipient: Recipient, address: string): Promise<void> {
    const message = passwordChangedEmail(this.#facts(recipient, address));
    await this.#send(session, recipient, "account.password_changed", message);
  }

  /** @param address the network address of the last failed sign-in */
  async passwordGuessed(session: Session, recipient: Recipient, address: string): Promise<void> {
    const message = passwordGuessingEmail(this.#facts(recipient, address));
    await this.#send(session, recipient, "account.password_guessed", message);
  }

  /**
   * @param passkey the name that the user chose for it
   * @param address the network address of the request
   */
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

  async #send(
    session: Session,
    recipient: Omit<Recipient, "name">,
    kind: string,
    message: Email,
  ): Promise<void> {
    const email = { ...message, to: recipient.email, kind, status: this.#settings.status };
    await insertEmail(this.#store, session, this.#model, recipient.tenantId, email);
  }
}
