// Credentials in the query end up in logs and histories, so they are refused, also beside a good header.

import { Problem } from "../../errors.ts";

const credentialNames =
  /^(?:(?:x[_-])?api[_-]?key|(?:access|refresh|id|auth|api)[_-]?token|token|authorization|bearer|client[_-]?secret)(?:=|$)/i;
/** Keys, and JSON Web Tokens (RFC 7519), which unlike cursors have two dots. */
const credentialValues =
  /\b[sp]k_(?:test|live)_[\w-]{8,}|[sp]k_(?:test|live)_[\w-]{43}|\beyJ[\w-]+\.[\w-]+\.[\w-]/;

/** What every value has in it. */
const credentialMarkers = ["k_test_", "k_live_", "."];

/** @throws Problem `credential_in_query` where a parameter of the request target looks like a credential */
export function refuseCredentialInQuery(target: string): void {
  const start = target.indexOf("?");
  if (start < 0) return;
  const query = target.slice(start + 1);
  const isPlain = !query.includes("%");
  // A cursor is long, and the pattern would be tried at each of its characters.
  const mayHoldValue = !isPlain || credentialMarkers.some((mark) => query.includes(mark));
  for (const written of query.split("&")) {
    const parameter = isPlain ? written : decodeLeniently(written);
    if (credentialNames.test(parameter) || (mayHoldValue && credentialValues.test(parameter)))
      throw new Problem("credential_in_query");
  }
}

function decodeLeniently(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch {
    // The protocol refuses the broken encoding; the parameter was searched as it is.
    return parameter;
  }
}
