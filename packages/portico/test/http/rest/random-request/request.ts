// Random requests, from nearly valid to garbage.

import fc from "fast-check";
import { type Body, brokenBody, objectFor } from "./body.ts";
import { headers } from "./headers.ts";
import { anySegment, known, type Piece } from "./piece.ts";
import { path, query } from "./url.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly path: readonly Piece[];
  readonly query: readonly (readonly [name: string, value: Piece, isEncoded: boolean])[];
  readonly headers: Readonly<Record<string, Piece>>;
  readonly body: Body;
}

const methods = fc.oneof(
  { weight: 6, arbitrary: fc.constant("GET") },
  { weight: 6, arbitrary: fc.constant("POST") },
  { weight: 3, arbitrary: fc.constantFrom("PUT", "PATCH") },
  { weight: 2, arbitrary: fc.constant("DELETE") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "M-SEARCH", "PURGE"),
  },
);

const plainHeaders: FuzzRequest["headers"] = { "content-type": "application/json", authorization: "" };
const mostlyPlainHeaders = fc.oneof(
  { weight: 2, arbitrary: fc.constant(plainHeaders) },
  { weight: 1, arbitrary: headers },
);

/** A meaningful request: method, path and body belong together; one of its parts may be odd. */
const mostlyValid: fc.Arbitrary<FuzzRequest> = anySegment.chain((segment) =>
  fc
    .tuple(
      fc.constantFrom("create", "create", "create", "replace", "change", "remove", "read", "list"),
      fc.oneof({ weight: 4, arbitrary: objectFor(segment) }, { weight: 1, arbitrary: brokenBody }),
      known(segment),
      known("posts"),
      mostlyPlainHeaders,
      query,
    )
    .map(([operation, body, id, post, headers, query]): FuzzRequest => {
      const item = [segment, id];
      const collection = segment === "comments" ? ["posts", post, "comments"] : [segment];
      const plain = { headers, query: [], body: undefined };
      if (operation === "create") return { ...plain, method: "POST", path: collection, body };
      if (operation === "replace") return { ...plain, method: "PUT", path: item, body };
      if (operation === "change") return { ...plain, method: "PATCH", path: item, body };
      if (operation === "remove") {
        const { "content-type": _, ...bodyless } = headers;
        return { ...plain, headers: bodyless, method: "DELETE", path: item };
      }
      return { ...plain, method: "GET", path: operation === "read" ? item : collection, query };
    }),
);

/** Parts that need not belong together. */
const unrelatedParts: fc.Arbitrary<FuzzRequest> = fc.record({
  method: methods,
  path,
  query,
  headers,
  body: fc.oneof(fc.constant(undefined), anySegment.chain(objectFor), brokenBody),
});

export const anyRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 3, arbitrary: mostlyValid },
  { weight: 2, arbitrary: unrelatedParts },
);
