// Values of every type and size, for every part of a request that accepts a value.

const deep = (levels: number): unknown => (levels === 0 ? null : [deep(levels - 1)]);

/** JSON texts, including some that `JSON.stringify` cannot produce. */
export const jsonTexts: readonly string[] = [
  ...[null, true, false, 0, -0, -1, 1, 1.5, 1e308, 2 ** 53, -(2 ** 53), 4e-320].map((value) =>
    JSON.stringify(value),
  ),
  "1e999",
  "-1e999",
  "9".repeat(400),
  ...[
    "",
    " ",
    "a",
    "0",
    "true",
    "null",
    "\u0000",
    "a\u0000b",
    "\u{1F600}",
    "e\u0301",
    "x".repeat(300),
    "x".repeat(20_000),
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "'; drop table posts; --",
    "%00",
    "2026-02-30T25:61:00Z",
    "+275760-09-13T00:00:00Z",
    "post_00000000000000000000000000",
    "user@example.com",
    "https://example.com/x",
    "sk_test_x",
    "eyJhIjoxfQ.eyJhIjoxfQ.x",
  ].map((text) => JSON.stringify(text)),
  '"\\ud800"',
  '"\\udc00\\ud800"',
  ...[[], [null], [1], ["a"], ["a", "a"], [[]], [{}], {}, { a: 1 }, { a: { b: [null] } }].map((value) =>
    JSON.stringify(value),
  ),
  // Names that every object inherits, used as values.
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":1}}',
  '{"then":1}',
  '{"length":-1}',
  '{"":""}',
  JSON.stringify(deep(31)),
  JSON.stringify(deep(60)),
  JSON.stringify(Array.from({ length: 5_000 }, (_, number) => number)),
  JSON.stringify(Object.fromEntries(Array.from({ length: 2_000 }, (_, number) => [`k${number}`, number]))),
  `{"${"n".repeat(2_000)}":1}`,
];

/** Values in the query of a request target, already percent-encoded where necessary. */
export const queryTexts: readonly string[] = [
  ...["", "0", "1", "-1", "1.5", "1e9", "9".repeat(400), "NaN", "true", "null", "a", "id", "-id", "--id"],
  ...["*", ",", ",,", "a,b", "id,id", "a.b.c.d.e", "[]", "[gte]", "{}", "forward", "2026-11-21", "now"],
  ...["%00", "a%00b", "%20", "+", "%F0%9F%98%80", "%ED%A0%80", "%ff", "%", "%zz", "%2525", "%0d%0aX:%20y"],
  ...["__proto__", "constructor", "toString", "'", "%22", "\\", "x".repeat(300), "x".repeat(8_000)],
  ...["2026-02-30T25:61:00Z", "%2B275760-09-13T00:00:00Z", "post_00000000000000000000000000", "=", "a=b"],
  Array.from({ length: 1_000 }, (_, number) => number).join(","),
];

/** Values of headers. */
export const headerTexts: readonly string[] = [
  ...[
    "",
    " ",
    "0",
    "-1",
    "1",
    "9".repeat(400),
    "a",
    "*",
    "*/*",
    ",",
    ",,,",
    ";",
    ";;q=",
    "q=0",
    '"',
    '"a',
    'W/"',
  ],
  ...[
    '"a", "b"',
    'W/"a"',
    "bytes=0-0",
    "bytes=5-1",
    "a/b;c=d",
    "application/json; charset=\u00ff",
    "gzip, br;q=0",
  ],
  ...[
    "text/html",
    "text/event-stream",
    "application/graphql-response+json",
    "multipart/form-data; boundary=",
  ],
  ...["Bearer", "Bearer ", "Bearer a b", "Basic OjpAQA==", "Digest x=y", "sk_test_x", "pk_test_x", "DPoP x"],
  ...["127.0.0.1", "::1", "1.2.3.4, 5.6.7.8", "for=_x", "unknown", "999.1.1.1", "[::1]:80", "::ffff:1.2.3.4"],
  ...[
    "null",
    "http://a",
    "https://a.example:99999",
    "a=b; a=c",
    "__Host-a=b",
    "Thu, 01 Jan 1970 00:00:00 GMT",
  ],
  ...["100-continue", "websocket", "h2c", "trailers", "close", "keep-alive, x", "\u00e9\u00ff", "\t a \t"],
  "x".repeat(300),
  "a,".repeat(3_000),
  "x".repeat(9_000),
];

/** Headers that the server or a proxy in front of it reads. */
export const headerNames: readonly string[] = [
  ...[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "authorization",
    "x-api-key",
    "cookie",
  ],
  ...[
    "content-type",
    "content-encoding",
    "content-language",
    "if-match",
    "if-none-match",
    "if-modified-since",
  ],
  ...["if-unmodified-since", "if-range", "range", "origin", "access-control-request-method", "referer", "te"],
  ...["access-control-request-headers", "x-request-id", "x-forwarded-for", "x-forwarded-host", "forwarded"],
  ...[
    "x-forwarded-proto",
    "last-event-id",
    "user-agent",
    "expect",
    "upgrade",
    "sec-websocket-key",
    "via",
    "dpop",
  ],
  ...[
    "sec-websocket-protocol",
    "sec-websocket-version",
    "x-http-method-override",
    "prefer",
    "idempotency-key",
  ],
  ...["traceparent", "max-forwards", "host", "__proto__", "constructor"],
];
