// HMAC-SHA-256 (RFC 2104) for short texts under one key. `createHmac` sets up OpenSSL anew for each text, which
// takes several times as long as hashing it; both halves of the key are prepared here once.

import { hash } from "node:crypto";
import { constantTimeEqual } from "./constant-time-equal.ts";

const blockBytes = 64;
const digestBytes = 32;

export class Hmac {
  readonly #inner: string;
  readonly #outer: Buffer;

  /** @param key at most 64 ASCII characters, so that the halves are text as well */
  constructor(key: string) {
    const padded = (byte: number): number[] =>
      Array.from({ length: blockBytes }, (_, index) => (key.charCodeAt(index) || 0) ^ byte);
    this.#inner = String.fromCharCode(...padded(0x36));
    this.#outer = Buffer.alloc(blockBytes + digestBytes, Uint8Array.from(padded(0x5c)));
  }

  /** The code of a text, in base64url (43 characters). */
  sign(text: string): string {
    this.#outer.write(hash("sha256", this.#inner + text, "hex"), blockBytes, "hex");
    return hash("sha256", this.#outer, "base64url");
  }

  /** Whether a code is the one of a text; in constant time. */
  verify(text: string, signature: string | null): boolean {
    return constantTimeEqual(this.sign(text), signature ?? "");
  }
}
