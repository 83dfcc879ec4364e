// Names of files, ranges and signed URLs, for any input.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { requestedRange } from "../../src/file-transfer/byte-range.ts";
import { cleanFileName, contentDisposition } from "../../src/files/file-name.ts";
import { contradicts } from "../../src/files/file-type.ts";
import { FileUrls } from "../../src/files/file-urls.ts";

test("any name becomes one that can be stored, shown and sent in a header", () => {
  const part = fc.constantFrom(
    "/",
    "\\",
    "..",
    "\0",
    "\ud800",
    "\u202e",
    "\n",
    '"',
    "%",
    ".",
    " ",
    "é",
    "😀",
    "a",
  );
  const names = fc.oneof(
    fc.array(fc.nat(0x10ffff)).map((codes) => String.fromCodePoint(...codes)),
    fc.array(part).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(names, (name) => {
      const clean = cleanFileName(name);
      assert.ok(clean.length > 0 && [...clean].length <= 200 && clean.isWellFormed());
      assert.doesNotMatch(clean, /[/\\\p{Cc}\p{Cf}]|^\./u);
      assert.equal(cleanFileName(clean), clean);
      const header = contentDisposition("attachment", clean);
      assert.match(
        header,
        /^attachment; filename="[\x20\x21\x23-\x5b\x5d-\x7e]*"; filename\*=UTF-8''[\w.~%!-]+$/,
      );
      assert.equal(decodeURIComponent(header.split("''").at(-1)!), clean);
    }),
  );
});

test("a range has the bytes that it asks for", () => {
  const size = fc.integer({ min: 0, max: 20 });
  const bound = fc.option(fc.integer({ min: 0, max: 25 }), { nil: undefined });
  fc.assert(
    fc.property(size, bound, bound, (length, first, last) => {
      const bytes = Array.from({ length }, (_, index) => index);
      const range = requestedRange(`bytes=${first ?? ""}-${last ?? ""}`, length);
      const isInvalid = first === undefined ? last === undefined : last !== undefined && last < first;
      if (isInvalid) return assert.equal(range, undefined);
      const expected = bytes.filter((index) =>
        first === undefined ? index >= length - last! : index >= first && index <= (last ?? length),
      );
      if (expected.length === 0) return assert.equal(range, "unsatisfiable");
      assert.ok(range !== undefined && range !== "unsatisfiable");
      assert.deepEqual(bytes.slice(range.start, range.end + 1), expected);
    }),
  );
});

test("an address is valid for ten to fifteen minutes, for one file and purpose, under the old secret too", () => {
  const [old, current] = ["o".repeat(32), "n".repeat(32)];
  const urls = new FileUrls([old], "http://x");
  const rotated = new FileUrls([current, old], "http://x");
  const others = new FileUrls([current], "http://x");
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 0, max: 1_000 }), (now, later) => {
      const url = new URL(urls.fileUrl("file_1", now));
      const address = {
        id: "file_1",
        expires: url.searchParams.get("expires"),
        signature: url.searchParams.get("signature"),
      };
      const left = urls.secondsLeft("files", address, now);
      assert.ok(left >= 599 && left <= 901, String(left));
      assert.equal(rotated.secondsLeft("files", address, now), left);
      assert.equal(urls.secondsLeft("files", address, now + 1000 * later) > 0, later < left);
      assert.equal(others.secondsLeft("files", address, now), 0);
      assert.equal(urls.secondsLeft("uploads", address, now), 0);
      assert.equal(urls.secondsLeft("files", { ...address, id: "file_2" }, now), 0);
      assert.equal(urls.secondsLeft("files", { ...address, signature: null }, now), 0);
    }),
  );
});

test("a content is refused where its first bytes are those of another type", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1");
  const avif = Buffer.from("\0\0\0 ftypavif\0\0\0\0", "latin1");
  const page = Buffer.from("\ufeff \n<!DOCTYPE html>");
  const zip = Buffer.from("PK\x03\x04", "latin1");
  const accepted: readonly [string, Buffer][] = [
    ["image/png", png],
    ["image/jpeg", Buffer.from("\xff\xd8\xff\xe0", "latin1")],
    ["image/gif", Buffer.from("GIF89a")],
    ["image/webp", webp],
    ["image/avif", avif],
    ["application/pdf", Buffer.from("%PDF-1.7")],
    ["text/html", page],
    ["text/plain", page],
    ["text/plain", zip],
    ["image/svg+xml", Buffer.from('<?xml version="1.0"?><svg/>')],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip],
    ["application/octet-stream", png],
    ["video/mp4", Buffer.from("\0\0\0 ftypisom", "latin1")],
  ];
  const refused: readonly [string, Buffer][] = [
    ["image/png", webp],
    ["image/webp", avif],
    ["image/avif", Buffer.from("\0\0\0 ftypisom", "latin1")],
    ["image/gif", page],
    ["image/jpeg", Buffer.from("plain")],
    ["image/bmp", png],
    ["text/plain", png],
    ["text/csv", Buffer.from("%PDF-1.7")],
    ["application/pdf", zip],
    ["application/json", page],
    ["video/mp4", page],
  ];
  for (const [type, start] of accepted) assert.equal(contradicts(type, start), false, type);
  for (const [type, start] of refused) assert.equal(contradicts(type, start), true, type);
});
