// Documents that clients send once and name by their SHA-256 from then on, as Apollo's and urql's do
// (`extensions.persistedQuery`).

import { hash } from "node:crypto";
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { GraphqlRequest } from "./request.ts";

const maxDocuments = 1_000;
/** Longer documents are not kept; their clients send them each time. */
const maxCachedLength = 8_192;

export class PersistedDocuments {
  readonly #cache = new BoundedMap<string, string>(maxDocuments);

  /** The document of a request. @throws Problem where there is none */
  textOf({ query, extensions }: GraphqlRequest): string {
    const persistedQuery = extensions.persistedQuery;
    if (persistedQuery === undefined || persistedQuery === null) {
      if (query !== undefined) return query;
      throw new Problem("malformed_request", "The member query is missing.");
    }
    const digest = digestOf(persistedQuery);
    if (query === undefined) return this.#cache.get(digest) ?? unknownDocument();
    if (hash("sha256", query) !== digest)
      throw new Problem("malformed_request", "The sha256Hash is not that of the query.");
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
    "persistedQuery must have the version 1 and a sha256Hash of 64 hexadecimal digits.",
  );
}

/** Clients know this message, and send the document with its digest then. */
function unknownDocument(): never {
  throw new Problem("not_found", "PersistedQueryNotFound");
}
