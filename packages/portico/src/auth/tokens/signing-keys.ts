// The keys that sign tokens (ES256), stored encrypted. During a rotation there are several, of which one signs.

import { createPublicKey, generateKeyPairSync, hash, type KeyObject, type webcrypto } from "node:crypto";
import type { Encryption } from "../../lib/encryption.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { ownTable } from "../../store/own-tables/table.ts";
import type { Store } from "../../store/store.ts";

/** How long a new key is published before it signs, because clients cache key sets. */
const publishLeadSeconds = 60;
/** How long a key verifies after it last signed: longer than the lifetime of any token. */
const verificationSeconds = 15 * 60;

export const signingKeysTable = ownTable(
  "signing_keys",
  { kid: "text", sealed: "text", signs_from: "integer" },
  { primaryKey: ["kid"] },
);

const selectAll = defineQuery([signingKeysTable], (db) =>
  db.selectFrom("signing_keys").select(["kid", "sealed", "signs_from"]).orderBy("signs_from").orderBy("kid"),
);

interface NewKey {
  readonly kid: string;
  readonly sealed: string;
  readonly signsFrom: number;
}

const insertRow = defineQuery([signingKeysTable], (db, { kid, sealed, signsFrom }: ParametersOf<NewKey>) =>
  db.insertInto("signing_keys").values({ kid, sealed, signs_from: signsFrom }),
);

const deleteRow = defineQuery([signingKeysTable], (db, { kid }: ParametersOf<{ kid: string }>) =>
  db.deleteFrom("signing_keys").where("kid", "=", kid),
);

type JsonWebKey = webcrypto.JsonWebKey;

export interface SigningKey {
  readonly kid: string;
  /** The private key as a JSON Web Key. */
  readonly jwk: JsonWebKey;
  readonly publicKey: KeyObject;
}

interface StoredKey extends SigningKey {
  /** Seconds since 1970. */
  readonly signsFrom: number;
}

/** How long the keys are cached. */
const cacheTtlMs = 5_000;
/** An unknown key id may be new, so the keys are read again, but not more often than this. */
const minReloadIntervalMs = 1_000;

/** The source of the keys: the database or a file. */
export interface SigningKeySource {
  /** Every key that verifies, the one that signs first. */
  load(): Promise<readonly SigningKey[]>;
}

/** Keys that the server generates and stores in the database. */
export class StoredSigningKeys implements SigningKeySource {
  readonly #store: Store;
  readonly #encryption: Encryption;

  constructor(store: Store, encryption: Encryption) {
    this.#store = store;
    this.#encryption = encryption;
  }

  load(): Promise<readonly SigningKey[]> {
    return loadSigningKeys(this.#store, this.#encryption);
  }
}

/** The cached keys. A key of another process is known a few seconds later. */
export class SigningKeyRing {
  readonly #source: SigningKeySource;
  #keys: Promise<readonly SigningKey[]> | undefined;
  #readAt = 0;

  constructor(source: SigningKeySource) {
    this.#source = source;
  }

  /** Every key that verifies, the one that signs first. */
  keys(maxAgeMs = cacheTtlMs): Promise<readonly SigningKey[]> {
    const now = performance.now();
    if (this.#keys && now - this.#readAt < maxAgeMs) return this.#keys;
    this.#readAt = now;
    const before = this.#keys;
    this.#keys = this.#source.load();
    // After a failure, later callers get the previous keys.
    this.#keys.catch(() => {
      this.#keys = before;
    });
    return this.#keys;
  }

  async publicKey(kid: string): Promise<KeyObject | undefined> {
    const find = (keys: readonly SigningKey[]) => keys.find((key) => key.kid === kid)?.publicKey;
    return find(await this.keys()) ?? find(await this.keys(minReloadIntervalMs));
  }
}

/** Every key that verifies, the one that signs first. Generates the first key if there is none. */
async function loadSigningKeys(store: Store, encryption: Encryption): Promise<readonly SigningKey[]> {
  const stored = await readKeys(store, encryption, store.database);
  if (stored.length > 0) return stored;
  return store.transaction(async (session) => {
    await store.lockTable(session, signingKeysTable.name);
    const concurrent = await readKeys(store, encryption, session);
    if (concurrent.length > 0) return concurrent;
    return [await insertKey(store, session, encryption, epochSeconds())];
  });
}

/** Generates a key that signs from a minute later, and deletes keys that no longer verify any token. */
export async function rotateSigningKey(store: Store, encryption: Encryption): Promise<StoredKey> {
  return store.transaction(async (session) => {
    await store.lockTable(session, signingKeysTable.name);
    const now = epochSeconds();
    const stored = new Set((await readKeys(store, encryption, session)).map(({ kid }) => kid));
    for (const { kid } of await selectAll(store).all(session))
      if (!stored.has(kid)) await deleteRow(store).run(session, { kid });
    return insertKey(store, session, encryption, stored.size === 0 ? now : now + publishLeadSeconds);
  });
}

async function readKeys(
  store: Store,
  encryption: Encryption,
  session: Session,
): Promise<readonly StoredKey[]> {
  const rows = await selectAll(store).all(session);
  const keys = rows.flatMap(({ sealed, signs_from: signsFrom }): StoredKey[] => {
    const text = encryption.decrypt(sealed);
    return text === undefined ? [] : [{ ...signingKey(JSON.parse(text)), signsFrom }];
  });
  return inOrderOfUse(keys, epochSeconds());
}

/** The key that signs now, then those that will sign, and those whose tokens may still be valid. */
function inOrderOfUse(keys: readonly StoredKey[], now: number): readonly StoredKey[] {
  const current = keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0];
  if (!current) return [];
  const others = keys.filter((key, index) => {
    if (key === current) return false;
    const successor = keys[index + 1];
    return !successor || successor.signsFrom + verificationSeconds > now;
  });
  return [current, ...others];
}

async function insertKey(
  store: Store,
  session: Session,
  encryption: Encryption,
  signsFrom: number,
): Promise<StoredKey> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" });
  const key = signingKey(jwk);
  const sealed = encryption.encrypt(JSON.stringify(jwk));
  await insertRow(store).run(session, { kid: key.kid, sealed, signsFrom });
  return { ...key, signsFrom };
}

/** @param jwk a private key of P-256; its id is its thumbprint */
export function signingKey(jwk: JsonWebKey): SigningKey {
  return { kid: thumbprint(jwk), jwk, publicKey: createPublicKey({ key: jwk, format: "jwk" }) };
}

/** RFC 7638 */
function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return hash("sha256", JSON.stringify({ crv, kty, x, y }), "base64url");
}
