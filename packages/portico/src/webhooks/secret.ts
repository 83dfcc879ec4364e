// The secrets that sign deliveries, as Standard Webhooks defines them: `whsec_` and base64. The database has them
// encrypted, because every delivery needs them again.

import { createHmac, randomBytes } from "node:crypto";
import type { Encryption } from "../lib/encryption.ts";

const prefix = "whsec_";
const secretBytes = 32;

/** A secret of an endpoint, as its row stores it. */
export interface StoredSecret {
  readonly encrypted: string;
  /** When it stops to sign; null for the current one. */
  readonly expiresAt: string | null;
}

export function generateSecret(): string {
  return prefix + randomBytes(secretBytes).toString("base64");
}

/** The secrets of an endpoint after a new one was added: the earlier ones sign until `overlapEnd` at the latest. */
export function withNewSecret(
  encryption: Encryption,
  secret: string,
  earlier: readonly StoredSecret[],
  overlapEnd: string,
  now: string,
): readonly StoredSecret[] {
  const ending = earlier
    .map(({ encrypted, expiresAt }) => ({
      encrypted,
      expiresAt: expiresAt === null || expiresAt > overlapEnd ? overlapEnd : expiresAt,
    }))
    .filter(({ expiresAt }) => expiresAt > now)
    .slice(0, maxOverlapping);
  return [{ encrypted: encryption.encrypt(secret), expiresAt: null }, ...ending];
}

/** Secrets that sign beside the current one: each adds 48 characters to a header. */
const maxOverlapping = 4;

/** Decrypts the secrets that sign at a time, the current one first. Those of a lost PORTICO_SECRET are left out. */
export function signingKeys(
  encryption: Encryption,
  secrets: readonly StoredSecret[],
  now: string,
): readonly Buffer[] {
  return secrets.flatMap(({ encrypted, expiresAt }) => {
    if (expiresAt !== null && expiresAt <= now) return [];
    const secret = encryption.decrypt(encrypted);
    return secret === undefined ? [] : [keyOf(secret)];
  });
}

/** Why nothing can be signed, for the log and for deliveries. */
export const lostSecret =
  "The secret of the endpoint cannot be decrypted, because PORTICO_SECRET was replaced. Rotate the secret of the endpoint.";

/** The key of a secret: the bytes after its prefix. */
export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), "base64");
}

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks, with a signature for each key. */
export function signatureHeaders(
  keys: readonly Buffer[],
  { id, timestamp, body }: SignedMessage,
): Readonly<Record<string, string>> {
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
