// Removes credentials from log lines and messages.

/** API keys, bearer tokens and JSON Web Tokens. The first group is the part that is not secret. */
const credentialPattern = /((?:sk|pk)_(?:test|live)_|[Bb]earer\s+|eyJ)[\w.~+/=-]+/g;
/** Every credential contains one of these. Most lines contain none, and the pattern is not applied to them. */
const credentialMarkers = ["k_test_", "k_live_", "earer", "eyJ"];

/** `key=sk_test_abc...` -> `key=sk_test_[redacted]` */
export function redactCredentials(line: string): string {
  return credentialMarkers.some((mark) => line.includes(mark))
    ? line.replace(credentialPattern, "$1[redacted]")
    : line;
}
