// Reads the credential from the headers of a request.

import { Problem } from "../errors.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";

/** @throws Problem 400 for several credentials, 401 for none */
export function presentedCredential({ headers, rawHeaders }: PresentedHeaders): string {
  const { authorization, "x-api-key": apiKey } = headers;
  if (authorization !== undefined && (apiKey !== undefined || hasDuplicateAuthorization(rawHeaders))) {
    throw new Problem("malformed_request", "Send one credential: either Authorization or X-API-Key, once.");
  }
  // A repeated X-API-Key header is joined to a list, which is not a valid key.
  if (apiKey !== undefined) return String(apiKey);
  if (authorization === undefined) throw new Problem("authentication_required", undefined, [], challenge());
  // RFC 6750, section 2.1; the name of the scheme is case-insensitive (RFC 9110, section 11.1).
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") throw invalidCredential();
  let start = 7;
  while (authorization[start] === " ") start += 1;
  return authorization.slice(start);
}

const nameLength = "authorization".length;

/** Node keeps only the first of several Authorization headers in `headers`; `rawHeaders` has them all. */
export function hasDuplicateAuthorization(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === nameLength && name.toLowerCase() === "authorization") count += 1;
  }
  return count > 1;
}

/** The header `WWW-Authenticate` (RFC 6750, section 3). */
export function challenge(error?: string): Record<string, string> {
  return { "WWW-Authenticate": error ? `Bearer error="${error}"` : "Bearer" };
}

export function invalidCredential(): Problem {
  return new Problem("invalid_credential", undefined, [], challenge("invalid_token"));
}
