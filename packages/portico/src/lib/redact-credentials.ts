// Credentials do not leave the server in a line of the log, nor in a message.

/** API keys, bearer tokens and JSON Web Tokens, wherever they stand in a line; the first group tells which. */
const credentialPattern = /((?:sk|pk)_(?:test|live)_|[Bb]earer\s+|eyJ)[\w.~+/=-]+/g;
/** What every credential has in it: a line without these is not searched further. */
const credentialMarkers = ["k_test_", "k_live_", "earer", "eyJ"];

/** A line without credentials: `sk_test_[redacted]` tells of what kind one was. */
export function redactCredentials(line: string): string {
  return credentialMarkers.some((mark) => line.includes(mark))
    ? line.replace(credentialPattern, "$1[redacted]")
    : line;
}
