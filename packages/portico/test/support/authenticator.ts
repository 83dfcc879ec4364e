// A software authenticator (WebAuthn) with ES256 passkeys. Tests can make its responses invalid.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** The options that a page passes to the browser, with bytes in base64url. */
export interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
}

/** Deviations from a valid response. */
export interface Wrong {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly signedBy?: KeyObject;
  readonly attestation?: { readonly fmt: string; readonly attStmt: ReadonlyMap<string, unknown> };
}

export class Authenticator {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #id = randomBytes(32);
  #userHandle = "";
  #counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The result of `navigator.credentials.create`, as the page serializes it. */
  create({ challenge, rp, user }: Options, wrong: Wrong = {}): string {
    this.#userHandle = user!.id;
    const { x, y } = this.#keys.publicKey.export({ format: "jwk" });
    const bytes = (text: string | undefined): Buffer => Buffer.from(text!, "base64url");
    const key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes(x)],
        [-3, bytes(y)],
      ]),
    );
    const length = Buffer.from([0, this.#id.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, key]);
    const authData = Buffer.concat([this.#data(rp!.id, 0x41, wrong), credential]);
    const { fmt = "none", attStmt = new Map() } = wrong.attestation ?? {};
    const attestationObject = cbor(
      new Map<string, unknown>([
        ["fmt", fmt],
        ["attStmt", attStmt],
        ["authData", authData],
      ]),
    );
    return this.#answer("webauthn.create", challenge, wrong, { attestationObject });
  }

  /** The result of `navigator.credentials.get`. */
  get({ challenge, rpId }: Options, wrong: Wrong = {}): string {
    const authenticatorData = this.#data(rpId!, 0x01, wrong);
    const client = this.#client("webauthn.get", challenge, wrong);
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(client).digest()]);
    const signature = sign("sha256", signed, wrong.signedBy ?? this.#keys.privateKey);
    const userHandle = Buffer.from(wrong.userHandle ?? this.#userHandle, "base64url");
    return this.#answer("webauthn.get", challenge, wrong, { authenticatorData, signature, userHandle });
  }

  /** WebAuthn, section 6.1 */
  #data(rpId: string, flags: number, { isVerified = true, rpId: other, counter }: Wrong): Buffer {
    this.#counter = counter ?? this.#counter + 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.#counter);
    const hash = createHash("sha256")
      .update(other ?? rpId)
      .digest();
    return Buffer.concat([hash, Buffer.from([flags | (isVerified ? 0x04 : 0)]), count]);
  }

  #client(type: string, challenge: string, wrong: Wrong): Buffer {
    const origin = wrong.origin ?? this.#origin;
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin,
        crossOrigin: false,
      }),
    );
  }

  #answer(type: string, challenge: string, wrong: Wrong, members: Readonly<Record<string, Buffer>>): string {
    const response = Object.entries({ clientDataJSON: this.#client(type, challenge, wrong), ...members });
    const id = this.#id.toString("base64url");
    return JSON.stringify({
      ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
      response: Object.fromEntries(response.map(([name, bytes]) => [name, bytes.toString("base64url")])),
    });
  }
}

/** The subset of CBOR (RFC 8949) that attestations need. */
function cbor(value: unknown): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const map = value as ReadonlyMap<unknown, unknown>;
  return Buffer.concat([head(5, map.size), ...[...map].flatMap(([key, each]) => [cbor(key), cbor(each)])]);
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 256) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
}
