// Requests of every kind, from nearly right to garbage. Ids, cursors and entity tags are wishes: they are filled in
// with what the server holds at the time.

import fc from "fast-check";

/** A piece of text, or a place where something that the server knows is put. */
export type Piece = string | { readonly known: "cursor" | "tag" | Segment; readonly pick: number };

export interface FuzzRequest {
  readonly method: string;
  readonly path: readonly Piece[];
  readonly query: readonly (readonly [name: string, value: Piece, isEncoded: boolean])[];
  readonly headers: Readonly<Record<string, Piece>>;
  readonly body: Piece | readonly Piece[] | Uint8Array | undefined;
}

export const segments = ["posts", "comments", "users", "projects", "deployments"] as const;
export type Segment = (typeof segments)[number];

const known = (name: "cursor" | "tag" | Segment): fc.Arbitrary<Piece> =>
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
const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

const anySegment = fc.constantFrom(...segments);
const collection = anySegment.map((segment): Piece[] => [segment]);
const version = fc.constantFrom<Piece[]>([], [], ["v1"], ["v2"], ["V1"]);

const path = fc
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
const query = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  { weight: 4, arbitrary: fc.array(parameter, { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(parameter, fc.integer({ min: 2, max: 120 }))
      .map(([each, times]) => Array(times).fill(each)),
  },
);

/** Texts that a header can hold. */
const headerText = fc.string({ unit: fc.constantFrom(...'aZ0 ,;=*"/\\()<>@é\u00FF\t'), maxLength: 12 });
const header = (...values: readonly string[]): fc.Arbitrary<Piece> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: headerText });
const tags = fc.oneof(known("tag"), header("*", '"x"', 'W/"x"', '"a", "b"'));
const usual = <T>(value: T, others: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: others });

const headers = fc
  .record({
    "content-type": usual<Piece | undefined>(
      "application/json",
      header(
        "application/merge-patch+json",
        "text/plain",
        "application/json; charset=latin1",
        "application/json;",
        "multipart/form-data",
        "",
      ),
      6,
    ),
    accept: usual<Piece | undefined>(
      undefined,
      header("*/*", "application/*", "text/html", "application/json;q=0", "text/html, */*;q=0.1", ","),
      8,
    ),
    "if-match": usual<Piece | undefined>(undefined, tags, 6),
    "if-none-match": usual<Piece | undefined>(undefined, tags, 3),
    authorization: usual<Piece | undefined>(
      "",
      header("Bearer", "Basic YTpi", "Bearer sk_test_x", "Bearer sk_live_x", "bearer  "),
      20,
    ),
    "x-api-key": usual<Piece | undefined>(undefined, header("sk_test_x", "pk_test_x", ""), 40),
    "x-request-id": usual<Piece | undefined>(undefined, header("mine", "a b", "x".repeat(200)), 10),
    "content-encoding": usual<Piece | undefined>(undefined, header("gzip", "br"), 40),
    expect: usual<Piece | undefined>(undefined, header("100-continue", "200-ok"), 60),
    range: usual<Piece | undefined>(undefined, header("bytes=0-1"), 40),
    cookie: usual<Piece | undefined>(undefined, header("a=b; c"), 40),
    "x-http-method-override": usual<Piece | undefined>(undefined, header("DELETE"), 40),
    upgrade: usual<Piece | undefined>(undefined, header("websocket", "h2c"), 60),
  })
  .map(
    (given) =>
      Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
        string,
        Piece
      >,
  );

/** A JSON text made of pieces, so that ids can stand in it. */
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
const sane = (...values: readonly unknown[]): fc.Arbitrary<Json> => fc.constantFrom(...values).map(literal);

const members: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  title: sane("A title", "Éclair", "\u{1F600} in the title"),
  body: sane("", "A body", "x".repeat(10_000)),
  status: sane("draft", "published", "archived"),
  authorId: quoted("users"),
  name: sane("A name", "B"),
  slug: fc.nat(300).chain((number) => sane(`slug-${number}`)),
  email: fc.nat(300).chain((number) => sane(`User${number}@example.com`)),
  projectId: quoted("projects"),
  ref: sane("main", "v1"),
  url: sane(null, "https://example.com/x"),
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

function objectFor(segment: Segment): fc.Arbitrary<Piece[]> {
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

const brokenBody: fc.Arbitrary<FuzzRequest["body"]> = fc.oneof(
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
const mostlyPlain = fc.oneof(
  { weight: 2, arbitrary: fc.constant(plainHeaders) },
  { weight: 1, arbitrary: headers },
);

/** A request that means something: method, path and body belong together; one of its parts may be odd. */
const nearlyRight: fc.Arbitrary<FuzzRequest> = anySegment.chain((segment) =>
  fc
    .tuple(
      fc.constantFrom("create", "create", "create", "replace", "change", "remove", "read", "list"),
      fc.oneof({ weight: 4, arbitrary: objectFor(segment) }, { weight: 1, arbitrary: brokenBody }),
      known(segment),
      known("posts"),
      mostlyPlain,
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
const anyhow: fc.Arbitrary<FuzzRequest> = fc.record({
  method: methods,
  path,
  query,
  headers,
  body: fc.oneof(fc.constant(undefined), anySegment.chain(objectFor), brokenBody),
});

export const anyRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 3, arbitrary: nearlyRight },
  { weight: 2, arbitrary: anyhow },
);

const rawLines = [
  "GET /posts HTTP/1.1",
  "POST /posts HTTP/1.1",
  "GET /posts HTTP/1.0",
  "GET /posts HTTP/9.9",
  "GET /posts",
  "get /posts HTTP/1.1",
  "FOO /posts HTTP/1.1",
  "CONNECT example.com:443 HTTP/1.1",
  "GET http://example.com/posts HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "GET /posts?a=%zz HTTP/1.1",
  "GET /%zz HTTP/1.1",
  "GET /posts/%00 HTTP/1.1",
  "GET //posts HTTP/1.1",
  "GET /posts/../posts HTTP/1.1",
  "GET /po\tsts HTTP/1.1",
  "GET /posts?q=\u00FF HTTP/1.1",
  "PRI * HTTP/2.0",
  "\u0016\u0003\u0001",
  "",
];
const rawHeaders = [
  "Host: a",
  "Host: b\r\nHost: c",
  "Content-Length: 5",
  "Content-Length: -1",
  "Content-Length: 5, 6",
  "Content-Length: 99999999999999999999",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: identity",
  "Content-Type: application/json",
  "Content-Type: text/plain",
  "Expect: 100-continue",
  "Expect: something",
  "Connection: close",
  "Connection: upgrade\r\nUpgrade: websocket",
  "Authorization: KEY",
  "Authorization: KEY\r\nAuthorization: KEY",
  "X-API-Key: KEY",
  "Accept: text/html",
  "X\u0000Y: z",
  "No colon",
  ": empty",
  " folded: a",
  `X-Long: ${"a".repeat(17_000)}`,
  Array.from({ length: 150 }, (_, index) => `X-${index}: a`).join("\r\n"),
];
const plainRawHeaders = [
  "Host: a",
  "Authorization: KEY",
  "Content-Type: application/json",
  "Content-Length: 13",
];
const rawBodies = [
  "",
  "{}",
  '{"title":"a"}',
  '5\r\n{"a":\r\n0\r\n\r\n',
  "zz\r\n",
  "0\r\n\r\n",
  "GET /posts HTTP/1.1\r\nHost: a\r\n\r\n",
];

/** What goes over a socket as it is, `KEY` standing for a credential: much of it is no HTTP. */
export const anyBytes: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        usual("POST /posts HTTP/1.1", fc.constantFrom(...rawLines), 1),
        fc.constantFrom([], ["Host: a"], ["Host: a", "Authorization: KEY"], plainRawHeaders),
        usual([], fc.array(fc.constantFrom(...rawHeaders), { maxLength: 4 }), 1),
        fc.constantFrom("\r\n", "\r\n", "\r\n", "\n"),
        usual('{"title":"a"}', fc.constantFrom(...rawBodies), 1),
      )
      .map(([line, usual, lines, end, body]) => [line, ...usual, ...lines, "", body].join(end)),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 60 }) },
);
