// Random paths and query parameters.

import fc from "fast-check";
import { anySegment, known, oddText, type Piece, segments } from "./piece.ts";

const collection = anySegment.map((segment): Piece[] => [segment]);
const version = fc.constantFrom<Piece[]>([], [], ["v1"], ["v2"], ["V1"]);

export const path = fc
  .tuple(
    version,
    fc.oneof(
      { weight: 6, arbitrary: collection },
      {
        weight: 8,
        arbitrary: anySegment.chain((segment) => known(segment).map((id): Piece[] => [segment, id])),
      },
      { weight: 3, arbitrary: known("posts").map((id): Piece[] => ["posts", id, "comments"]) },
      { weight: 2, arbitrary: fc.tuple(anySegment, fc.oneof(oddText, ...segments.map(known))) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Piece[]>(["healthz"], ["readyz"], ["api-keys"], ["events"], [""]),
      },
      {
        weight: 1,
        arbitrary: fc.array(fc.oneof(oddText, known("posts"), fc.constantFrom(...segments)), {
          maxLength: 6,
        }),
      },
    ),
  )
  .map(([before, rest]) => [...before, ...rest]);

const parameters: Readonly<Record<string, readonly string[]>> = {
  sort: ["createdAt", "-createdAt", "title", "-title", "name", "id", "-", "--title", "body", "mac"],
  limit: ["1", "2", "100", "101", "0", "-1", "1.5", "9".repeat(20), "many"],
  page: ["1", "2", "100000", "100001", "0", "x"],
  perPage: ["1", "1000", "x"],
  direction: ["forward", "backward", "sideways"],
  fields: [
    "id",
    "title,id",
    "author.name",
    "author.id,author.email",
    "author.author.name",
    "password",
    ",,",
    "post.author.name",
  ],
  q: ["engine", "a b c", "*", '"', "NEAR(a b)", "a:*", "&|!", "=tenant", "é"],
  status: ["draft", "published", "live", "other", ""],
  "createdAt[gte]": ["2026-01-01T00:00:00Z", "now", "9999-12-31T23:59:59.999Z", "-271821-04-20T00:00:00Z"],
  "createdAt[lt]": ["2026-01-01T00:00:00Z", ""],
  "createdAt[in]": ["2026-01-01T00:00:00Z"],
  createdAt: ["2026-01-01T00:00:00Z"],
  slug: ["difference-engine", "none"],
  email: ["ada@example.com", "none"],
  __proto__x: ["1"],
};
const parameter = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom(...Object.keys(parameters))
      .chain((name) =>
        fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...parameters[name]!), oddText), fc.boolean()),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constant("cursor"), fc.oneof(known("cursor"), oddText), fc.constant(true)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom("authorId", "projectId", "postId"),
      known("users"),
      fc.constant(true),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(oddText, oddText, fc.boolean()) },
);
export const query = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  { weight: 4, arbitrary: fc.array(parameter, { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(parameter, fc.integer({ min: 2, max: 120 }))
      .map(([each, times]) => Array(times).fill(each)),
  },
);
