// Signing keys from a file: PEM, a JSON Web Key, or a JSON Web Key Set, of which the first key signs and all verify. The
// file is read again when it changes, so keys can be replaced without a restart.

import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { OperatorError } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import { type SigningKey, type SigningKeySource, signingKey } from "./signing-keys.ts";

const maxFileSize = 64 * 1024;

export class FileSigningKeys implements SigningKeySource {
  readonly #file: string;
  readonly #report: Report;
  #keys: readonly SigningKey[];
  #fileVersion: string;

  /** @throws OperatorError if the file cannot be read or contains no valid key */
  constructor(file: string, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#fileVersion = fileVersionOf(file);
    this.#keys = readKeysFromFile(file);
  }

  /** If the file is invalid, perhaps half written, the previous keys stay in use. */
  async load(): Promise<readonly SigningKey[]> {
    try {
      const state = fileVersionOf(this.#file);
      if (state === this.#fileVersion) return this.#keys;
      this.#fileVersion = state;
      this.#keys = readKeysFromFile(this.#file);
    } catch (err) {
      this.#report("the signing keys cannot be read; the previous ones stay in use", { err });
    }
    return this.#keys;
  }
}

function fileVersionOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return [mtimeMs, size, ino].join();
  } catch (error) {
    throw new OperatorError(`PORTICO_SIGNING_KEY cannot be read: ${(error as Error).message}`);
  }
}

function readKeysFromFile(file: string): readonly SigningKey[] {
  const stats = statSync(file);
  const text = stats.isFile() && stats.size <= maxFileSize ? readFileSync(file, "utf8") : "";
  const keys = text.trimStart().startsWith("{") ? jsonKeys(text) : [privateKey(() => createPrivateKey(text))];
  if (keys.length > 0 && keys.every((key) => key !== undefined)) return keys;
  throw new OperatorError(
    `PORTICO_SIGNING_KEY is ${file}; it must hold private keys for ES256 (P-256): PEM, a JSON Web Key or a set of these`,
  );
}

/** RFC 7517, sections 4 and 5 */
function jsonKeys(text: string): readonly (SigningKey | undefined)[] {
  try {
    const parsed = JSON.parse(text);
    const keys: unknown[] = Array.isArray(parsed.keys) ? parsed.keys : [parsed];
    return keys.map((key) => privateKey(() => createPrivateKey({ key: key as never, format: "jwk" })));
  } catch {
    return [];
  }
}

/** Undefined for anything but a private key of P-256. The error is dropped, because its message could contain key material. */
function privateKey(read: () => KeyObject): SigningKey | undefined {
  try {
    const key = read();
    if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") return undefined;
    return signingKey(key.export({ format: "jwk" }));
  } catch {
    return undefined;
  }
}
