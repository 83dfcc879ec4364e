// Cursors that hold one position as text, bound by HMAC-SHA-256 to the list that they were created for.

import { hkdfSync } from "node:crypto";
import { Problem } from "../errors.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { Hmac } from "../lib/hmac.ts";

/** 22 characters of base64url are 132 bits. */
const macLength = 22;
const maxTokenLength = 200;

export class PositionCursors {
  /** The first key signs; all of them are accepted, so that a secret can be replaced. */
  readonly #keys: readonly Hmac[];

  /** @param secrets the values of PORTICO_SECRET, newest first */
  constructor(secrets: readonly string[], purpose: string) {
    this.#keys = secrets.map((secret) => {
      const key = Buffer.from(hkdfSync("sha256", secret, "", `portico ${purpose} cursor`, 32));
      return new Hmac(key.toString("hex"));
    });
  }

  /**
   * @param list identifies the list with its tenant, filters and sort
   * @param position letters, digits and hyphens
   */
  encode(list: string, position: string): string {
    return signed(this.#keys[0]!, list, position);
  }

  /** @throws Problem `invalid_cursor` for a token that is malformed, altered, or of another list */
  decode(list: string, token: string): string {
    const position = positionIn(token);
    // The whole token is compared, so that nothing can be added to what is signed.
    if (this.#keys.some((key) => constantTimeEqual(signed(key, list, position), token))) return position;
    throw new Problem("invalid_cursor");
  }
}

/** The position in a token that may have been made by anyone; empty if there is none. */
function positionIn(token: string): string {
  const text = token.length <= maxTokenLength ? Buffer.from(token, "base64url").toString() : "";
  return /^\{"position":"([\w-]+)"/.exec(text)?.[1] ?? "";
}

function signed(key: Hmac, list: string, position: string): string {
  const mac = key.sign(`${list} ${position}`).slice(0, macLength);
  return Buffer.from(JSON.stringify({ position, _mac: mac })).toString("base64url");
}
