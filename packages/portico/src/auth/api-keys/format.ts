// The format of API keys, and their hash, the only form in which they are stored.

import { hash, randomBytes } from "node:crypto";

export type Environment = "test" | "live";
export type KeyType = "secret" | "publishable";

/** `sk_test_` and 32 random bytes in base64url (43 characters). */
export const keyPattern = /^(sk|pk)_(test|live)_[\w-]{43}$/;
/** Text that starts like a key is never sent to another issuer, even if it is not a complete key. */
export const keyPrefixPattern = /^(?:sk|pk)_(?:test|live)_/;
/** Number of leading characters that are stored in plain text and identify the key's record. */
export const prefixLength = 12;
const secretBytes = 32;

export type GenerateKey = (type: KeyType, environment: Environment) => string;

export const generateKey: GenerateKey = (type, environment) => {
  const kind = type === "secret" ? "sk" : "pk";
  return `${kind}_${environment}_${randomBytes(secretBytes).toString("base64url")}`;
};

/** The SHA-256 hash of the whole key, in hexadecimal. */
export function keyHash(key: string): string {
  return hash("sha256", key, "hex");
}
