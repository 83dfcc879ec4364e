// Random bytes that resemble HTTP/1.1 more or less.

import fc from "fast-check";
import { usual } from "./piece.ts";

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

/** Bytes to write to a socket, often invalid HTTP; `KEY` is a placeholder for a credential. */
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
