// Pieces of random requests: odd texts, and placeholders for values that exist on the server when a request is sent.

import fc from "fast-check";

/** A piece of text, or a placeholder for an id, a cursor or an entity tag that exists on the server when it is sent. */
export type Piece = string | { readonly known: "cursor" | "tag" | Segment; readonly pick: number };

export const segments = ["posts", "comments", "users", "projects", "deployments"] as const;
export type Segment = (typeof segments)[number];

export const known = (name: "cursor" | "tag" | Segment): fc.Arbitrary<Piece> =>
  fc.record({ known: fc.constant(name), pick: fc.nat(1_000) });

const oddTexts = [
  "",
  " ",
  "0",
  "-1",
  "1e999",
  "null",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "..",
  "%",
  "*",
  "'; drop table posts; --",
  '"',
  "\\",
  "\u0000",
  "a\u0000b",
  "\uD800",
  "\u{1F600}",
  "é\u0301",
  "2026-02-30T25:61:00Z",
  "0000-01-01T00:00:00Z",
  "+275760-09-13T00:00:00Z",
  "post_00000000000000000000000000",
  "post_7zzzzzzzzzzzzzzzzzzzzzzzzz",
  "a".repeat(201),
  "\u{1F600}".repeat(130),
  "x".repeat(9_000),
  Array.from({ length: 3_000 }, (_, index) => index.toString(36)).join(" "),
];
export const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

export const anySegment = fc.constantFrom(...segments);

/** A usual value, or occasionally another one. */
export const usual = <T>(value: T, others: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: others });
