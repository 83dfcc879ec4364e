import { hash } from "node:crypto";

/** The SHA-256 hash of a secret value, in base64url. Tokens, codes and cookies are stored in this form only. */
export function hashToken(value: string): string {
  return hash("sha256", value, "base64url");
}
