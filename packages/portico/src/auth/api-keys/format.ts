// What an API key looks like, and the only form in which it is kept.

import { hash, randomBytes } from "node:crypto";

export type Environment = "test" | "live";
export type KeyType = "secret" | "publishable";

/** `sk_test_` and 32 random bytes in base64url (43 characters). */
export const keyPattern = /^(sk|pk)_(test|live)_[\w-]{43}$/;
/** What is written like this was meant to be a key, complete or not, and is nobody else's business. */
export const keyPrefixPattern = /^(?:sk|pk)_(?:test|live)_/;
/** So many characters of a key are stored in the clear and lead to its record. */
export const prefixLength = 12;
const secretBytes = 32;

/** A new key. */
export type GenerateKey = (type: KeyType, environment: Environment) => string;

export const generateKey: GenerateKey = (type, environment) => {
  const kind = type === "secret" ? "sk" : "pk";
  return `${kind}_${environment}_${randomBytes(secretBytes).toString("base64url")}`;
};

/** SHA-256 of a whole key, in hex. */
export function keyHash(key: string): string {
  return hash("sha256", key, "hex");
}
