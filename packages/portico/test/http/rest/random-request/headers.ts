// Random request headers.

import fc from "fast-check";
import { known, type Piece, usual } from "./piece.ts";

/** Texts that a header can contain. */
const headerText = fc.string({ unit: fc.constantFrom(...'aZ0 ,;=*"/\\()<>@é\u00FF\t'), maxLength: 12 });
const header = (...values: readonly string[]): fc.Arbitrary<Piece> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: headerText });
const tags = fc.oneof(known("tag"), header("*", '"x"', 'W/"x"', '"a", "b"'));

export const headers = fc
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
    (values) =>
      Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
        string,
        Piece
      >,
  );
