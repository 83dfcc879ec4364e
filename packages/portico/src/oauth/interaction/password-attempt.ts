// A person shows their password: counted first, delayed where somebody guesses, and only then hashed.

import type { User } from "../../auth/users/lookup.ts";
import { type PageContext, type PageRequest, tooManyAttemptsMessage } from "./page-request.ts";

interface PasswordAttempt {
  readonly tenantId: string;
  readonly email: string;
  readonly password: string;
}

/** The person, or the seconds after which to try again: none where the password is wrong. */
export async function attemptPassword(
  { users, bruteForce, mails }: PageContext,
  { address }: PageRequest,
  { password, ...account }: PasswordAttempt,
): Promise<{ readonly user?: User | undefined; readonly seconds: number }> {
  const attempt = { ...account, address };
  const seconds = await bruteForce.secondsToWait(attempt);
  if (seconds > 0) return { seconds };
  if (await bruteForce.delay(attempt)) await mails.requestWarning(attempt);
  const user = await users.authenticate(account.tenantId, account.email, password);
  if (user) await bruteForce.refund(attempt);
  return { user, seconds: 0 };
}

/** Tells a person to wait before the next try. @returns what the page says */
export function setRetryAfter({ response }: PageRequest, seconds: number): string {
  response.setHeader("Retry-After", String(seconds));
  return tooManyAttemptsMessage(seconds);
}
