// Cursors: the sort values of a row, bound by HMAC-SHA-256 to the tenant, collection, sort, filter and search that they
// were created for. A token names a position and no direction, so it can be used in both.

import { hkdfSync } from "node:crypto";
import { Problem } from "../errors.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { Hmac } from "../lib/hmac.ts";
import { isId } from "../lib/id.ts";
import type { Attribute } from "../model/model.ts";
import { comparableOf } from "./comparable.ts";
import { type Condition, conditionKeys, type Value } from "./condition.ts";
import type { Position, Sort } from "./read.ts";
import { sortText } from "./sort.ts";

/** The list that a cursor belongs to. A token of one list is refused on another. */
export interface ListIdentity {
  readonly tenantId: string;
  /** The collection as a path: `posts`, `posts/post_01k.../comments`. */
  readonly collection: string;
  readonly sort: Sort;
  readonly conditions: readonly Condition[];
  readonly words: readonly string[];
}

/** 22 characters of base64url are 132 bits. */
const macLength = 22;
/** Of three texts of 255 characters, each of which JSON writes as up to six bytes. */
const maxTokenLength = 8192;
/**
 * Cached tokens by position, and positions by token: most callers send a token back soon, and the first page of a list
 * is requested often.
 */
const maxCachedCursors = 500;
/** Characters of a typical token with its list; longer ones count as several. */
const typicalCursorLength = 600;

function weightOf(...texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / typicalCursorLength);
}

interface DecodedCursor {
  readonly list: string;
  readonly position: Position;
}

export class CursorCodec {
  /** The first key signs; all of them are accepted, so that a secret can be replaced. */
  readonly #keys: readonly Hmac[];
  readonly #decoded = new BoundedMap<string, DecodedCursor>(maxCachedCursors, (token, { list }) =>
    weightOf(token, list),
  );
  readonly #encoded = new BoundedMap<string, string>(maxCachedCursors, weightOf);

  /** @param secrets the values of PORTICO_SECRET, newest first */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => {
      const key = Buffer.from(hkdfSync("sha256", secret, "", "portico cursor", 32));
      return new Hmac(key.toString("hex"));
    });
  }

  /** The token of a row: base64url of `{"createdAt": "...", "id": "...", "_mac": "..."}`; no field is called so. */
  encode(list: string, sort: Sort, position: Position): string {
    const payload = payloadText(sort, position);
    const cached = this.#encoded.get(list + payload);
    if (cached !== undefined) return cached;
    const token = signedToken(this.#keys[0]!, list, payload);
    this.#encoded.set(list + payload, token);
    this.#decoded.set(token, { list, position });
    return token;
  }

  /** @throws Problem `invalid_cursor` for a token that is malformed, altered, or of another list. */
  decode(list: string, sort: Sort, token: string): Position {
    const cached = this.#decoded.get(token);
    if (cached?.list === list) return cached.position;
    const position = this.#verify(list, sort, token);
    this.#decoded.set(token, { list, position });
    return position;
  }

  #verify(list: string, sort: Sort, token: string): Position {
    const parsed = parsePayload(token);
    if (!parsed || !isId(parsed.id)) throw new Problem("invalid_cursor");
    const values = sort.map(({ attribute }) => sortValue(attribute, parsed[attribute.name]));
    const position = { values, id: parsed.id };
    const payload = payloadText(sort, position);
    // The whole token is compared, so that nothing can be added to what is signed.
    if (this.#keys.some((key) => constantTimeEqual(signedToken(key, list, payload), token))) return position;
    throw new Problem("invalid_cursor");
  }
}

/** The start of a token, before the signature: `{"createdAt":"...","id":"..."` */
function payloadText(sort: Sort, { values, id }: Position): string {
  let text = "{";
  for (let index = 0; index < sort.length; index++) {
    const { name } = sort[index]!.attribute;
    if (name !== "id") text += `"${name}":${JSON.stringify(values[index])},`;
  }
  return `${text}"id":"${id}"`;
}

function signedToken(key: Hmac, list: string, payload: string): string {
  const mac = key.sign(list + payload).slice(0, macLength);
  return Buffer.from(`${payload},"_mac":"${mac}"}`).toString("base64url");
}

/** The text that the cursors of a list are bound to. It does not depend on the order of conditions and their values. */
export function listKey({ tenantId, collection, sort, conditions, words }: ListIdentity): string {
  const filter = conditionKeys(conditions);
  const [{ attribute, isDescending }, ...others] = sort;
  // The key of a single sort stays as it is, so that cursors of earlier versions stay valid.
  const order = others.length === 0 ? [attribute.name, isDescending] : [sortText(sort), null];
  return JSON.stringify([tenantId, collection, ...order, filter, words]);
}

type Payload = { readonly id: string } & Readonly<Record<string, unknown>>;

function parsePayload(token: string): Payload | undefined {
  if (token.length > maxTokenLength || !/^[\w-]+$/.test(token)) return undefined;
  try {
    const payload: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (typeof payload !== "object" || payload === null) return undefined;
    // The id was just seen to be a text; the other members stay unknown.
    return "id" in payload && typeof payload.id === "string" ? (payload as Payload) : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Problem `invalid_cursor` for a value that the attribute cannot have */
function sortValue(attribute: Attribute, value: unknown): Value {
  if (!isSortValue(attribute, value)) throw new Problem("invalid_cursor");
  return value;
}

function isSortValue(attribute: Attribute, value: unknown): value is Value {
  if (value === null) return attribute.isNullable;
  switch (attribute.field.kind) {
    case "integer":
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "decimal":
    case "date":
      return comparableOf(attribute)!.parse(value) !== undefined;
    case "timestamp":
      return typeof value === "string" && !Number.isNaN(Date.parse(value));
    default:
      return typeof value === "string";
  }
}
