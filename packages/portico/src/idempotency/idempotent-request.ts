// The parts of a request that an Idempotency-Key is bound to.

import { hash } from "node:crypto";
import { Problem } from "../errors.ts";

export const maxKeyLength = 255;

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  readonly key: string;
  /** Identifies what is requested. The same key with another fingerprint is refused. */
  readonly fingerprint: string;
}

export interface RequestParts {
  readonly method: string;
  /** Without the prefix of the current version: `/v1/posts` is `/posts`. With its query. */
  readonly path: string;
  readonly ifMatch: string | undefined;
  /** As it was parsed. */
  readonly body: unknown;
}

/**
 * @param key the value of the header
 * @throws Problem `malformed_request` for a key that is empty or too long, or that has other characters than visible ASCII
 */
export function idempotentRequest(
  key: string,
  { method, path, ifMatch, body }: RequestParts,
): IdempotentRequest {
  if (key.length > maxKeyLength || !/^[\x21-\x7e]+$/.test(key))
    throw new Problem(
      "malformed_request",
      `\`Idempotency-Key\` must have 1 to ${maxKeyLength} visible ASCII characters.`,
    );
  const parts = [method, path, ifMatch ?? null, body ?? null];
  return { key, fingerprint: hash("sha256", JSON.stringify(parts), "base64url") };
}
