// A person shows their password: counted first, delayed where somebody guesses, and only then hashed.

import type { Person } from "../identity/person.ts";
import { type Exchange, type PageParts, tooManyTries } from "./exchange.ts";

interface Shown {
  readonly tenantId: string;
  readonly email: string;
  readonly password: string;
}

/** The person, or the seconds after which to try again: none where the password is wrong. */
export async function tryPassword(
  { people, guesses, mails }: PageParts,
  { address }: Exchange,
  { password, ...account }: Shown,
): Promise<{ readonly person?: Person | undefined; readonly seconds: number }> {
  const tried = { ...account, address };
  const seconds = await guesses.secondsToWait(tried);
  if (seconds > 0) return { seconds };
  if (await guesses.delay(tried)) await mails.askWarning(tried);
  const person = await people.signedIn(account.tenantId, account.email, password);
  if (person) await guesses.forgive(tried);
  return { person, seconds: 0 };
}

/** Tells a person to wait before the next try. @returns what the page says */
export function toldToWait({ response }: Exchange, seconds: number): string {
  response.setHeader("Retry-After", String(seconds));
  return tooManyTries(seconds);
}
