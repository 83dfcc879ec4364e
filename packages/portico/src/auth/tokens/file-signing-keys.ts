// Signing keys that whoever runs the server gives in a file: PEM, a JSON Web Key, or a set of these, of which the first
// signs and all verify. The file is read again when it changes, so that nothing is restarted for another key.

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

  /** @throws OperatorError for a file that cannot be read or holds no key */
  constructor(file: string, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#fileVersion = fileVersionOf(file);
    this.#keys = readKeysFromFile(file);
  }

  /** A file that is faulty now, half written perhaps, changes nothing. */
  async load(): Promise<readonly SigningKey[]> {
    try {
      const state = fileVersionOf(this.#file);
      if (state === this.#fileVersion) return this.#keys;
      this.#fileVersion = state;
      this.#keys = readKeysFromFile(this.#file);
    } catch (err) {
      this.#report("the signing keys cannot be read; those of before go on", { err });
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
  const privateKeys = statSync(file);
  const text = privateKeys.isFile() && privateKeys.size <= maxFileSize ? readFileSync(file, "utf8") : "";
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

/** Undefined for what is no private key of P-256. What is wrong with it is not told: the message could hold a part of it. */
function privateKey(read: () => KeyObject): SigningKey | undefined {
  try {
    const key = read();
    if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") return undefined;
    return signingKey(key.export({ format: "jwk" }));
  } catch {
    return undefined;
  }
}
