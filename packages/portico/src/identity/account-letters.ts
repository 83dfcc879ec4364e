// Whoever writes to people about their own account.

import type { Session } from "../store/database.ts";
import type { User } from "./person.ts";

/** What a link is for; also the last part of its address. */
export type LinkPurpose = "password" | "email";

/** Writes to a person in the transaction of `session`. */
export interface AccountEmails {
  link(
    session: Session,
    user: User,
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
    user: User,
    change: { readonly email: string; readonly isPending: boolean; readonly address: string },
  ): Promise<void>;
  /** @param address the network address of the last try */
  passwordGuessed(session: Session, user: User, address: string): Promise<void>;
  passwordChanged(session: Session, user: User, address: string): Promise<void>;
  /** @param passkey how the person calls it */
  passkeyAdded(session: Session, user: User, passkey: string, address: string): Promise<void>;
}
