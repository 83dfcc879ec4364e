// Whoever writes to people about their own account.

import type { Session } from "../store/database.ts";
import type { Person } from "./person.ts";

/** What a link is for; also the last part of its address. */
export type LinkPurpose = "password" | "email";

/** Writes to a person in the transaction of `session`. */
export interface AccountLetters {
  link(
    session: Session,
    person: Person,
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
   * @param person with the address of before
   * @param change `isPending` where that is still theirs until the new one is confirmed
   */
  emailChanged(
    session: Session,
    person: Person,
    change: { readonly email: string; readonly isPending: boolean; readonly address: string },
  ): Promise<void>;
  /** @param address the network address of the last try */
  passwordGuessed(session: Session, person: Person, address: string): Promise<void>;
  passwordChanged(session: Session, person: Person, address: string): Promise<void>;
  /** @param passkey how the person calls it */
  passkeyAdded(session: Session, person: Person, passkey: string, address: string): Promise<void>;
}
