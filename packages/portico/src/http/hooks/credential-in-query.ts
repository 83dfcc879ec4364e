// Refuses credentials in the query, which end up in logs and histories, even if the headers have a valid one.

import { Problem } from "../../errors.ts";

const credentialNames =
  /^(?:(?:x[_-])?api[_-]?key|(?:access|refresh|id|auth|api)[_-]?token|token|authorization|bearer|client[_-]?secret)(?:=|$)/i;
/** Keys, and JSON Web Tokens (RFC 7519), which unlike cursors have two dots. */
const credentialValues =
  /\b[sp]k_(?:test|live)_[\w-]{8,}|[sp]k_(?:test|live)_[\w-]{43}|\beyJ[\w-]+\.[\w-]+\.[\w-]/;

/** Each value that `credentialValues` matches contains one of these. */
const credentialMarkers = ["k_test_", "k_live_", "."];

/** @throws Problem `credential_in_query` where a parameter of the request target looks like a credential */
export function refuseCredentialInQuery(target: string): void {
  const start = target.indexOf("?");
  if (start < 0) return;
  const query = target.slice(start + 1);
  const isPlain = !query.includes("%");
  // Avoids trying the pattern at each character of a long cursor.
  const mayHoldValue = !isPlain || credentialMarkers.some((marker) => query.includes(marker));
  for (const encoded of query.split("&")) {
    const parameter = isPlain ? encoded : decodeLeniently(encoded);
    if (credentialNames.test(parameter) || (mayHoldValue && credentialValues.test(parameter)))
      throw new Problem("credential_in_query");
  }
}

function decodeLeniently(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch {
    // Searched as it is; the protocol refuses the invalid encoding.
    return parameter;
  }
}
