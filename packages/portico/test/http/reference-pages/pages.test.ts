// The reference pages at `/docs`: open, cached, complete, and without a broken link.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { catalogue } from "../../../src/errors.ts";
import { EncodedBodies } from "../../../src/reference-pages/encoded-bodies.ts";
import { freePort } from "../../support/free-port.ts";
import { attributesOf, getText, idsOf } from "../../support/reference-pages.ts";
import { serve } from "../../support/scenario.ts";
import { projectFolder } from "../../support/server.ts";

describe("reference pages", () => {
  const server = serve("sqlite");
  const get = (path: string, headers: Record<string, string> = {}) => getText(server, path, headers);

  /** Every page by its path, found by following links from the first one. */
  async function allPages(): Promise<ReadonlyMap<string, string>> {
    const pages = new Map<string, string>();
    const open = ["/docs"];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (pages.has(path)) continue;
      const { status, text } = await get(path);
      assert.equal(status, 200, path);
      pages.set(path, text);
      const linked = attributesOf(text, "href").map((href) => href.split("#")[0]!);
      open.push(...linked.filter((href) => /^\/docs(?:$|\/)/.test(href) && !/\.\w+$/.test(href)));
    }
    return pages;
  }

  test("a page needs no credential, loads nothing of other origins and may not be framed", async () => {
    const { status, headers, text } = await get("/docs/operations/posts");
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(headers.get("cache-control"), "no-cache");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    const policy = headers.get("content-security-policy")!.split("; ");
    assert.deepEqual(policy.slice(0, 3), ["default-src 'none'", "script-src 'self'", "style-src 'self'"]);
    assert.ok(policy.includes("connect-src 'self'") && policy.includes("frame-ancestors 'none'"));
    assert.ok(!policy.some((rule) => rule.includes("unsafe")));
    const scripts = [...text.matchAll(/<script[^>]*>([^<]*)/g)];
    assert.deepEqual(
      scripts.map(([, inline]) => inline),
      [""],
    );
    assert.ok(!/ (?:on\w+|style)="/.test(text));
  });

  test("pages and files are compressed and have a tag for each coding", async () => {
    const { text } = await get("/docs");
    const [, digest = ""] = /files\/([\da-f]{16})\//.exec(text) ?? [];
    const script = `/docs/files/${digest}/reference.js`;
    for (const path of ["/docs", "/docs/search.json", script]) {
      const tags = new Set<string | null>();
      for (const coding of ["br", "gzip", "identity"]) {
        const first = await get(path, { "accept-encoding": coding });
        assert.equal(first.status, 200, path);
        assert.equal(first.headers.get("content-encoding"), coding === "identity" ? null : coding);
        assert.equal(first.headers.get("vary"), "Accept-Encoding");
        const tag = first.headers.get("etag")!;
        tags.add(tag);
        const again = await get(path, { "accept-encoding": coding, "if-none-match": tag });
        assert.deepEqual([again.status, again.text], [304, ""]);
      }
      assert.equal(tags.size, 3);
    }
    const { headers } = await get(script);
    assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal((await get(script.replace(digest, "0123456789abcdef"))).status, 404);
  });

  test("no link is broken, and no id occurs twice on a page", async () => {
    const pages = await allPages();
    const ids = new Map([...pages].map(([path, text]) => [path, idsOf(text)]));
    for (const [path, text] of pages) {
      assert.equal(new Set(ids.get(path)).size, ids.get(path)!.length, `an id of ${path} occurs twice`);
      for (const href of attributesOf(text, "href")) {
        const { pathname, hash, origin } = new URL(href, server.url + path);
        if (origin !== server.url) continue;
        const anchors = ids.get(pathname);
        if (hash !== "" && anchors) assert.ok(anchors.includes(hash.slice(1)), `${path} links to ${href}`);
        else if (!anchors) assert.equal((await get(pathname)).status, 200, `${path} links to ${href}`);
      }
    }
    const { body: index } = await server.request("/docs/search.json", { key: null });
    for (const [title, , url] of index) {
      const [path = "", anchor] = String(url).split("#");
      assert.ok(ids.has(path), `${title} is found at ${url}`);
      if (anchor !== undefined) assert.ok(ids.get(path)!.includes(anchor), `${title} is found at ${url}`);
    }
  });

  test("every operation, schema, error, event and GraphQL type has its place", async () => {
    const { body: description } = await server.request("/openapi.json", { key: null });
    const ids = new Set([...(await allPages()).values()].flatMap(idsOf));
    const operations = Object.values(description.paths).flatMap((item) =>
      Object.values(item as object).flatMap(({ operationId }) => operationId ?? []),
    );
    assert.ok(operations.length > 50);
    const expected = [
      ...operations,
      ...operations.flatMap((id) => [`${id}-curl`, `${id}-JavaScript`, `${id}-Python`]),
      ...Object.keys(description.components.schemas).map((name) => `schema-${name}`),
      ...Object.keys(description.webhooks ?? {}).map((type) => `event-${type}`),
      ...Object.keys(catalogue),
      ...["Query", "Mutation", "Subscription", "Post"],
    ];
    assert.deepEqual(
      expected.filter((id) => !ids.has(id)),
      [],
    );
  });

  test("an unknown page has the error shape", async () => {
    for (const path of [
      "/docs/nothing",
      "/docs/operations/nothing",
      "/docs/operations/%2e%2e%2ferrors",
      "/docs/a/b/c",
    ]) {
      const { status, body } = await server.request(path, { key: null });
      assert.deepEqual([status, body.error.code], [404, "not_found"], path);
    }
    const { status, headers } = await getText(server, "/docs/");
    assert.deepEqual([status, headers.get("location")], [308, "/docs"]);
  });

  test("caches do not keep a refused request for a file", async () => {
    const [, script = ""] = / src="([^"]+)"/.exec((await get("/docs")).text) ?? [];
    const all = await Promise.all(Array.from({ length: 400 }, () => get(script)));
    const refused = all.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0);
    for (const { headers } of refused) {
      assert.equal(headers.get("cache-control"), null);
      assert.ok(headers.has("content-security-policy"));
    }
  });
});

test("requests that arrive while a page is rendered wait for it, and a failure is not kept", async () => {
  const bodies = new EncodedBodies();
  let rendered = 0;
  const content = async () => {
    rendered += 1;
    if (rendered === 1) throw new Error("not ready");
    return { type: "text/html", bytes: Buffer.from("page") };
  };
  const get = () => bodies.get("/page", "br", content);
  const [failure] = await Promise.allSettled([get(), get()]);
  assert.equal(failure!.status, "rejected");
  const all = [...(await Promise.all([get(), get(), get()])), await get()];
  assert.deepEqual([rendered, new Set(all).size], [2, 1]);
});

describe("reference pages below a path", async () => {
  // With port 0, examples would name the port instead of PUBLIC_URL.
  const PORT = String(await freePort());
  serve("sqlite", { env: { PORT, PUBLIC_URL: "https://example.com/api" } });

  test("every link has the path", async () => {
    const { text } = await getText({ url: `http://127.0.0.1:${PORT}` }, "/docs/operations/posts");
    const paths = [...attributesOf(text, "href"), ...attributesOf(text, "src")];
    const outside = paths.filter((path) => !/^(?:#|data:,$|\/api\/)/.test(path));
    assert.deepEqual(outside, []);
    assert.match(text, /curl https:\/\/example\.com\/api\/v1\/posts/);
    assert.match(text, / data-api="\/api"/);
  });
});

describe("reference pages of an API with versions", () => {
  const cwd = join(projectFolder, "packages/portico/test/fixtures/gazette");
  const server = serve("sqlite", { cwd });

  test("operations of an older version are named so, and marked as deprecated", async () => {
    const { text } = await getText(server, "/docs/operations/articles");
    const [, current = "", older = ""] =
      /id="listArticles"(.*?)<h3>.* id="listArticlesV1"(.*?)<h3>/s.exec(text) ?? [];
    assert.match(current, />List articles \(v2\)<.*<code>\/v2\/articles<\/code><\/p>/s);
    assert.match(
      older,
      />List articles \(v1\)<.*<code>\/v1\/articles<\/code> <span class="badge warning">deprecated</s,
    );
    assert.match(older, /Do not use it in new programs\. It may be gone from \d{4}-\d\d-\d\d on\./);
    const ids = idsOf(text);
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe("reference pages that are closed", () => {
  const server = serve("sqlite", { env: { PORTICO_DOCS: "0" } });

  test("the API does not describe itself", async () => {
    for (const path of ["/docs", "/docs/operations/posts", "/openapi.json"])
      assert.equal((await server.request(path, { key: null })).status, 404, path);
    const { body } = await server.request("/", { key: null });
    assert.deepEqual([body.links.docs, body.links.openapi], [undefined, undefined]);
  });
});
