// Seals texts that are worth as much as a password, so that a copy of the database opens nothing.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

export class Encryption {
  readonly #keys: readonly Buffer[];

  /** @param secrets newest first: the first one seals, all of them open */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => Buffer.from(hkdfSync("sha256", secret, "", "portico seal", 32)));
  }

  /** AES-256-GCM in base64url: nonce, tag, text. */
  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#keys[0]!, nonce);
    const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64url");
  }

  /** The text, or undefined where no secret opens it. */
  decrypt(encrypted: string): string | undefined {
    const bytes = Buffer.from(encrypted, "base64url");
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    for (const key of this.#keys) {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
        return Buffer.concat([text, decipher.final()]).toString();
      } catch {
        // Sealed with another secret.
      }
    }
    return undefined;
  }
}
