// GraphiQL: a small page, and static files that are encoded once and cached by browsers.

import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
};

onOneDatabase("files of GraphiQL", (database) => {
  const server = serve(database);

  /** Returns the encoded response. `fetch` would decode it. */
  function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Received> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(server.url + path, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => {
          const { statusCode = 0, headers: received } = response;
          resolve({ status: statusCode, headers: received, body: Buffer.concat(chunks) });
        });
        response.on("error", reject);
      });
      sent.on("error", reject).end();
    });
  }

  async function page(): Promise<string> {
    return (await get("/graphql", { accept: "text/html", "accept-encoding": "br" })).body.toString();
  }

  /** The files of the page: a style sheet, a script and three workers. */
  async function addresses(): Promise<string[]> {
    return [...new Set((await page()).match(/\/graphql\/files\/[^"]+/g))];
  }

  test("the page is small and has no inline script", async () => {
    const { status, headers, body } = await get("/graphql", { accept: "text/html" });
    assert.equal(status, 200);
    assert.ok(body.length < 4_096, `it has ${body.length} bytes`);
    const policy = headers["content-security-policy"] ?? "";
    assert.match(String(policy), /script-src 'self';/);
    const scripts = [...body.toString().matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    assert.ok(scripts.every((tag) => / src="\/graphql\/files\/| type="application\/json"/.test(tag)));
  });

  test("its files are immutable, and have the same content in every coding", async () => {
    const named = await addresses();
    assert.equal(named.length, 5);
    for (const address of named) {
      assert.match(address, /\.[\da-f]{16}\.(?:js|css)$/);
      const plain = await get(address);
      assert.equal(plain.status, 200);
      assert.equal(plain.headers["content-encoding"], undefined);
      for (const [coding, decode] of Object.entries(decoders)) {
        const { status, headers, body } = await get(address, { "accept-encoding": coding });
        assert.equal(status, 200);
        assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
        assert.match(String(headers.vary), /Accept-Encoding/);
        assert.match(String(headers["content-type"]), address.endsWith(".css") ? /^text\/css/ : /javascript/);
        assert.equal(headers["content-length"], String(body.length));
        if (coding !== "identity") assert.equal(headers["content-encoding"], coding);
        assert.ok(decode(body).equals(plain.body), `${address} in ${coding}`);
        if (coding !== "identity") assert.ok(body.length < plain.body.length * 0.6);
      }
    }
  });

  test("a cached file is 304, and HEAD returns its headers only", async () => {
    const [address = ""] = await addresses();
    const { headers, body } = await get(address, { "accept-encoding": "gzip" });
    const again = await get(address, { "accept-encoding": "gzip", "if-none-match": headers.etag ?? "" });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    assert.equal(again.headers.etag, headers.etag);
    const otherCoding = await get(address, { "accept-encoding": "br", "if-none-match": headers.etag ?? "" });
    assert.equal(otherCoding.status, 200);
    const head = await get(address, { "accept-encoding": "gzip" }, "HEAD");
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    assert.equal(head.headers["content-length"], String(body.length));
  });

  test("a coding that the client does not accept is not used", async () => {
    const [address = ""] = await addresses();
    for (const [accepted, sent] of [
      ["br;q=0, gzip", "gzip"],
      ["gzip, deflate, br, zstd", "br"],
      ["zstd", undefined],
      ["identity;q=0", undefined],
      ["*", "br"],
      ["nonsense;;;,=,", undefined],
    ] as const) {
      const { status, headers } = await get(address, { "accept-encoding": accepted });
      assert.deepEqual([status, headers["content-encoding"]], [200, sent], accepted);
    }
  });

  test("unknown files and other methods are errors in the common format", async () => {
    const [address = ""] = await addresses();
    for (const path of [`${address}x`, "/graphql/files/", "/graphql/files/..%2F..%2Fpackage.json"]) {
      const { status, body } = await get(path);
      assert.equal(status, 404, path);
      assert.equal(JSON.parse(body.toString()).error.code, "not_found");
    }
    assert.equal((await get(address, {}, "POST")).status, 405);
  });

  test("file requests are limited for each address, independently of API requests", async () => {
    let refused: Received | undefined;
    for (let count = 0; count < 400 && !refused; count += 1) {
      const answer = await get("/graphql", { accept: "text/html" });
      if (answer.status !== 200) refused = answer;
    }
    assert.equal(refused?.status, 429);
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    assert.equal((await server.request("/posts")).status, 200);
  });
});
