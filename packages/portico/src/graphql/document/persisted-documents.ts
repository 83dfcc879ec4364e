// Automatic persisted queries, as in Apollo and urql: a client sends a document once, and only its SHA-256 digest from
// then on (`extensions.persistedQuery`).

import { hash } from "node:crypto";
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { GraphqlRequest } from "./request.ts";

const maxDocuments = 1_000;
/** Characters of a cached document. Clients send longer ones each time. */
const maxCachedLength = 8_192;

export class PersistedDocuments {
  readonly #cache = new BoundedMap<string, string>(maxDocuments);

  /** The document of a request. @throws Problem if there is none, or the digest is wrong */
  textOf({ query, extensions }: GraphqlRequest): string {
    const persistedQuery = extensions.persistedQuery;
    if (persistedQuery === undefined || persistedQuery === null) {
      if (query !== undefined) return query;
      throw new Problem("malformed_request", "Missing `query`.");
    }
    const digest = digestOf(persistedQuery);
    if (query === undefined) return this.#cache.get(digest) ?? unknownDocument();
    if (hash("sha256", query) !== digest)
      throw new Problem("malformed_request", "`sha256Hash` is not the SHA-256 digest of `query`.");
    if (query.length <= maxCachedLength) this.#cache.set(digest, query);
    return query;
  }
}

const sha256 = /^[\da-f]{64}$/i;

function digestOf(persistedQuery: unknown): string {
  const { version, sha256Hash } = Object(persistedQuery) as Record<string, unknown>;
  if (version === 1 && typeof sha256Hash === "string" && sha256.test(sha256Hash))
    return sha256Hash.toLowerCase();
  throw new Problem(
    "malformed_request",
    "`persistedQuery` must have `version` 1 and a `sha256Hash` of 64 hexadecimal digits.",
  );
}

/** Clients recognise this message and send the document with its digest. */
function unknownDocument(): never {
  throw new Problem("not_found", "PersistedQueryNotFound");
}
