// Bodies of imports that no honest sender sends: each ends with an answer that says what was wrong, and none with 500.

import assert from "node:assert/strict";
import { test } from "node:test";
import { serveImports } from "../../support/imports.ts";
import { onOneDatabase } from "../../support/server.ts";

const mebibyte = 1024 * 1024;
const csv = "text/csv";
const kept = '{"title":"kept"}';

interface Hostile {
  readonly what: string;
  readonly body: string | Uint8Array;
  readonly type?: string;
  /** The code of the error of the whole import. */
  readonly ends?: string;
  /** The code of the error of the line. */
  readonly line?: readonly [number, string];
}

const hostile: readonly Hostile[] = [
  {
    what: "a line of 20 MB",
    body: `${"x".repeat(20 * mebibyte)}\n${kept}`,
    line: [1, "payload_too_large"],
  },
  {
    what: "a value of 5 MB",
    body: `title\n"${"x\n".repeat(2.5 * mebibyte)}"\nkept`,
    type: csv,
    line: [2, "payload_too_large"],
  },
  {
    what: "a million values",
    body: `title\n${",".repeat(mebibyte - 1)}\nkept`,
    type: csv,
    line: [2, "malformed_request"],
  },
  {
    what: "a million names",
    body: `${"a,".repeat(mebibyte / 2)}b\nkept`,
    type: csv,
    ends: "malformed_request",
  },
  {
    what: "a quote that never ends",
    body: `title\nkept\n"${"x".repeat(3 * mebibyte)}`,
    type: csv,
    ends: "malformed_request",
  },
  {
    what: "names that are objects' own",
    body: "title,__proto__,constructor\nx,1,2\n",
    type: csv,
    line: [2, "validation_error"],
  },
  {
    what: "60,000 unknown members",
    body: `{${Array.from({ length: 60_000 }, (_, n) => `"m${n}":1`).join()}}\n${kept}`,
    line: [1, "validation_error"],
  },
  {
    what: "JSON 500,000 levels deep",
    body: `${"[".repeat(500_000)}${"]".repeat(500_000)}\n${kept}`,
    line: [1, "malformed_request"],
  },
  {
    what: "JSON 100 levels deep",
    body: `{"title":"x","extra":${"[".repeat(100)}${"]".repeat(100)}}\n${kept}`,
    line: [1, "malformed_request"],
  },
  {
    what: "a number of a million digits",
    body: `{"title":"x","count":${"9".repeat(1_000_000)}}\n${kept}`,
    line: [1, "validation_error"],
  },
  {
    what: "a number of a million digits in CSV",
    body: `title,count\nx,${"9".repeat(1_000_000)}\nkept,1`,
    type: csv,
    line: [2, "validation_error"],
  },
  {
    what: "__proto__",
    body: `{"title":"x","__proto__":{"count":1}}\n${kept}`,
    line: [1, "validation_error"],
  },
  { what: "U+0000", body: `{"title":"\\u0000"}\n${kept}`, line: [1, "validation_error"] },
  { what: "U+0000 in CSV", body: "title\n\u0000\nkept", type: csv, line: [2, "validation_error"] },
  { what: "a lone surrogate", body: `{"title":"\\ud800"}\n${kept}`, line: [1, "validation_error"] },
  {
    what: "bytes that are not UTF-8",
    body: Buffer.from(`{"title":"\xff"}\n${kept}`, "latin1"),
    line: [1, "malformed_request"],
  },
  {
    what: "bytes that are not UTF-8 in CSV",
    body: Buffer.from("title\nkept\n\xff\n", "latin1"),
    type: csv,
    ends: "malformed_request",
  },
  {
    what: "a byte order mark on a later line",
    body: `${kept}\n\ufeff{"title":"x"}`,
    line: [2, "malformed_request"],
  },
  { what: "null", body: `null\n${kept}`, line: [1, "validation_error"] },
];

onOneDatabase("hostile imports", (database) => {
  const server = serveImports(database);

  for (const { what, body, type, ends, line } of hostile) {
    test(`${what}`, async () => {
      const answer = await server.send("notes", body, { ...(type && { type }) });
      assert.notEqual(answer.status, 500, answer.text.slice(0, 500));
      assert.ok(answer.text.length < 50_000);
      if (ends) assert.equal(answer.body.error?.code, ends, answer.text.slice(0, 500));
      if (!line) return;
      const { errors, created } = answer.body;
      assert.deepEqual([[errors[0].line, errors[0].error.code], errors.length], [line, 1]);
      assert.equal(created, type === csv && what.startsWith("names") ? 0 : 1);
    });
  }

  test("members that occur twice count once, with their last value", async () => {
    const { body } = await server.send("notes", '{"title":"first","title":"last"}');
    assert.equal(body.created, 1);
    assert.equal(await server.count("title=last"), 1);
  });

  test("10,000 lines can be atomic, and a million line breaks are no lines", async () => {
    const { status, body } = await server.send("notes?atomic=true", '{"title":""}\n'.repeat(10_000));
    assert.deepEqual([status, body.failed], [422, 10_000]);
    const blank = await server.send("notes", `${"\n".repeat(1_000_000)}{"title":""}`);
    assert.equal(blank.body.errors[0].line, 1_000_001);
  });

  test("an Idempotency-Key is refused", async () => {
    const headers = { "idempotency-key": "k", "content-type": "application/x-ndjson" };
    const { status, body } = await server.request("/v1/imports/notes", { body: kept, headers });
    assert.deepEqual([status, body.error.code], [400, "malformed_request"]);
  });
});
