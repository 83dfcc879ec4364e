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
  passwordChanged(session: Session, person: Person, address: string): Promise<void>;
  /** @param passkey how the person calls it */
  passkeyAdded(session: Session, person: Person, passkey: string, address: string): Promise<void>;
}
