// Whoever writes to people about their own account.

import type { Session } from "../store/database.ts";

/** A person to whom mail goes. */
export interface Recipient {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly email: string;
}

/** What a link is for; also the last part of its address. */
export type LinkPurpose = "password" | "email";

/** Writes to a person in the transaction of `session`. */
export interface AccountEmails {
  link(
    session: Session,
    user: Recipient,
    link: {
      readonly purpose: LinkPurpose;
      readonly url: string;
      readonly minutes: number;
      readonly address: string;
    },
  ): Promise<void>;
  /**
   * Tells the address that a person had of another one.
   *
   * @param user with the address of before
   * @param change `isPending` where that is still theirs until the new one is confirmed
   */
  emailChanged(
    session: Session,
    user: Recipient,
    change: { readonly email: string; readonly isPending: boolean; readonly address: string },
  ): Promise<void>;
  /** @param address the network address of the last try */
  passwordGuessed(session: Session, user: Recipient, address: string): Promise<void>;
  passwordChanged(session: Session, user: Recipient, address: string): Promise<void>;
  /** @param passkey how the person calls it */
  passkeyAdded(session: Session, user: Recipient, passkey: string, address: string): Promise<void>;
}
