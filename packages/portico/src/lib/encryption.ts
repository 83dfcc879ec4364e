// Encrypts secrets such as private keys, so that a copy of the database does not reveal them.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

export class Encryption {
  readonly #keys: readonly Buffer[];

  /** @param secrets newest first: the first one encrypts, all of them decrypt, so that a secret can be replaced */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => Buffer.from(hkdfSync("sha256", secret, "", "portico seal", 32)));
  }

  /** Encrypts with AES-256-GCM. @returns nonce, tag and ciphertext in base64url */
  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#keys[0]!, nonce);
    const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64url");
  }

  /** Returns undefined if the text was not encrypted with any of the secrets, or was altered. */
  decrypt(encrypted: string): string | undefined {
    return decryptWith(this.#keys, encrypted);
  }

  /**
   * Encrypts again what is encrypted with a secret that is no longer the first one.
   * @returns undefined if there is nothing to do, or no secret decrypts the text
   */
  renew(encrypted: string): string | undefined {
    const [, ...earlier] = this.#keys;
    const text = decryptWith(earlier, encrypted);
    return text === undefined ? undefined : this.encrypt(text);
  }
}

function decryptWith(keys: readonly Buffer[], encrypted: string): string | undefined {
  const bytes = Buffer.from(encrypted, "base64url");
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  for (const key of keys) {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([text, decipher.final()]).toString();
    } catch {
      // Encrypted with another secret.
    }
  }
  return undefined;
}
