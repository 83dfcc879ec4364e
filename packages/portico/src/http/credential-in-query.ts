// Credentials in the query end up in logs and histories, so they are refused, also beside a good header.

import { Problem } from "../errors.ts";

const names =
  /[?&](?:(?:x[_-])?api[_-]?key|(?:access|refresh|id|auth)[_-]?token|token|authorization|client[_-]?secret)(?:=|&|$)/i;
/** Keys, and JSON Web Tokens (RFC 7519), which unlike cursors have two dots. */
const values = /\b[sp]k_(?:test|live)_[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]/;

/** @throws Problem `credential_in_query` where a parameter of the request target looks like a credential */
export function refuseCredentialInQuery(target: string): void {
  const start = target.indexOf("?");
  if (start < 0) return;
  const query = target.slice(start);
  const decoded = query.includes("%") ? decodedLoosely(query) : query;
  // A cursor is long, and the pattern would be tried at each of its characters.
  const mayHold = decoded.includes("k_test_") || decoded.includes("k_live_") || decoded.includes(".");
  if (names.test(decoded) || (mayHold && values.test(decoded))) throw new Problem("credential_in_query");
}

function decodedLoosely(query: string): string {
  try {
    return decodeURIComponent(query);
  } catch {
    // The door will refuse the broken encoding; what stands there as it is has been looked at.
    return query;
  }
}
