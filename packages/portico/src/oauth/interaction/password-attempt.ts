// Checks a password. The attempt is counted first, delayed during a brute-force attack, and only then hashed.

import type { User } from "../../auth/users/lookup.ts";
import { type PageContext, type PageRequest, tooManyAttemptsMessage } from "./page-request.ts";

interface PasswordAttempt {
  readonly tenantId: string;
  readonly email: string;
  readonly password: string;
}

/** @returns the user, undefined if the password is wrong; `seconds` to wait if the attempt was not allowed, 0 otherwise */
export async function attemptPassword(
  { users, bruteForce, emailQueue }: PageContext,
  { address }: PageRequest,
  { password, ...account }: PasswordAttempt,
): Promise<{ readonly user?: User | undefined; readonly seconds: number }> {
  const attempt = { ...account, address };
  const seconds = await bruteForce.secondsToWait(attempt);
  if (seconds > 0) return { seconds };
  if (await bruteForce.delay(attempt)) await emailQueue.requestWarning(attempt);
  const user = await users.authenticate(account.tenantId, account.email, password);
  if (user) await bruteForce.refund(attempt);
  return { user, seconds: 0 };
}

/** Sets Retry-After. @returns the message for the page */
export function setRetryAfter({ response }: PageRequest, seconds: number): string {
  response.setHeader("Retry-After", String(seconds));
  return tooManyAttemptsMessage(seconds);
}
