// Random request bodies: objects that a collection accepts, and texts that are not JSON.

import fc from "fast-check";
import { known, oddText, type Piece, type Segment } from "./piece.ts";

export type Body = Piece | readonly Piece[] | Uint8Array | undefined;

/** A JSON text made of pieces, so that it can contain ids. */
type Json = readonly Piece[];
const literal = (value: unknown): Json => [JSON.stringify(value)];
const quoted = (segment: Segment): fc.Arbitrary<Json> => known(segment).map((id) => ['"', id, '"']);

const oddJson: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: oddText.map(literal) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("null", "true", "0", "-0", "1e308", "1e999", "[]", "{}", '{"a":[{"b":null}]}')
      .map((text) => [text]),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(literal) },
);
const validValue = (...values: readonly unknown[]): fc.Arbitrary<Json> =>
  fc.constantFrom(...values).map(literal);

const members: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  title: validValue("A title", "Éclair", "\u{1F600} in the title"),
  body: validValue("", "A body", "x".repeat(10_000)),
  status: validValue("draft", "published", "archived"),
  authorId: quoted("users"),
  name: validValue("A name", "B"),
  slug: fc.nat(300).chain((number) => validValue(`slug-${number}`)),
  email: fc.nat(300).chain((number) => validValue(`User${number}@example.com`)),
  projectId: quoted("projects"),
  ref: validValue("main", "v1"),
  url: validValue(null, "https://example.com/x"),
};
const wanted: Readonly<Record<Segment, readonly string[]>> = {
  posts: ["title", "body", "status", "authorId"],
  comments: ["body", "authorId"],
  users: ["name", "email"],
  projects: ["name", "slug"],
  deployments: ["projectId", "ref", "url"],
};

const oddMember = fc.tuple(
  fc.oneof(fc.constantFrom("id", "createdAt", "__proto__", "constructor", ...Object.keys(members)), oddText),
  oddJson,
);

/** A JSON object with fields of a collection, sometimes with odd ones too. */
export function objectFor(segment: Segment): fc.Arbitrary<Piece[]> {
  const some = fc.oneof(
    { weight: 3, arbitrary: fc.constant([...wanted[segment]]) },
    { weight: 2, arbitrary: fc.subarray([...wanted[segment]]) },
  );
  return fc
    .tuple(
      some.chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), members[name]!)))),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(oddMember, { maxLength: 3 }) },
      ),
    )
    .map(([right, odd]) => {
      const pieces = [...right, ...odd].flatMap(([name, value], index): Piece[] => [
        `${index > 0 ? "," : ""}${JSON.stringify(name)}:`,
        ...value,
      ]);
      return ["{", ...pieces, "}"];
    });
}

export const brokenBody: fc.Arbitrary<Body> = fc.oneof(
  { weight: 3, arbitrary: oddJson },
  { weight: 2, arbitrary: oddText },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '{"title":',
      '{"title":"a","title":2}',
      '\uFEFF{"title":"a"}',
      "{'title':'a'}",
      '{"title":"\\ud800"}',
      '{"title":"\\u0000"}',
      '{"__proto__":{"title":"a"},"title":"a"}',
      `${"[".repeat(40)}${"]".repeat(40)}`,
      `{"title":${'{"a":'.repeat(33)}1${"}".repeat(33)}}`,
      "[".repeat(100_000),
      `{"a":${"1".repeat(5_000)}}`,
    ),
  },
);
