// `GET /openapi.json` and `portico openapi`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { app, resource, text } from "../../../src/index.ts";
import { serve } from "../../support/scenario.ts";
import { portico } from "../../support/server.ts";
import { DescribedApi } from "./described-api.ts";

describe("/openapi.json", () => {
  const server = serve("sqlite");
  const get = (headers: Record<string, string> = {}) =>
    server.request("/openapi.json", { key: null, headers });

  test("needs no credential and may be cached and read by any page", async () => {
    const { status, headers, body } = await get();
    assert.equal(status, 200);
    assert.equal(body.openapi, "3.1.1");
    assert.deepEqual(body.servers, [{ url: server.url }]);
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(headers.get("cache-control"), "public, max-age=60");
    assert.equal(headers.get("access-control-allow-origin"), "*");
  });

  test("is compressed as the client accepts it, with a tag for each coding", async () => {
    const tags = new Set<string | null>();
    for (const coding of ["br", "gzip", "identity"]) {
      // fetch decodes the body.
      const { headers, body } = await get({ "accept-encoding": coding });
      assert.equal(headers.get("content-encoding"), coding === "identity" ? null : coding);
      assert.equal(body.openapi, "3.1.1");
      assert.equal(headers.get("vary"), "Accept-Encoding");
      const tag = headers.get("etag")!;
      tags.add(tag);
      const again = await get({ "accept-encoding": coding, "if-none-match": tag });
      assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", tag]);
    }
    assert.equal(tags.size, 3);
  });

  test("is what `portico openapi` prints, but for the address of the server", async () => {
    const { body } = await get();
    const env = { PUBLIC_URL: server.url };
    const { stdout } = await portico({ databaseUrl: "" }, ["openapi"], { env });
    assert.deepEqual(JSON.parse(stdout), body);
  });

  test("refers only to what it contains, and contains nothing that is not referred to", async () => {
    const { text, body } = await get();
    const references = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, path]) => path));
    assert.equal(
      [...text.matchAll(/"\$ref"/g)].length,
      [...text.matchAll(/"\$ref":"#\/components\//g)].length,
    );
    const { securitySchemes: _, ...components } = body.components;
    const contained = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named as object).map((name) => `${kind}/${name}`),
    );
    assert.deepEqual(contained.sort(), [...references].sort());
  });
});

describe("the description of rows that can be restored", () => {
  const drafts = resource("draft", { fields: { title: text({ max: 100 }) }, softDelete: true });
  const server = serve("sqlite", { app: app({ name: "Drafts", resources: [drafts] }) });

  test("has their deletedAt, the sort by it, and the scope that listing them needs", async () => {
    const { body } = await server.request("/openapi.json", { key: null });
    const api = new DescribedApi(body);
    const { id } = await server.create("/v1/drafts", { title: "To be deleted" });
    await server.request(`/v1/drafts/${id}`, { method: "DELETE" });
    const list = api.operations.find(({ operation }) => operation.operationId === "listDrafts")!;
    const parameter = (name: string) => list.parameters.find((each) => each.name === name)!;
    for (const sort of ["-deletedAt", "createdAt,-deletedAt"]) {
      const response = await fetch(`${server.url}/v1/drafts?deleted=true&sort=${sort}`, {
        headers: { authorization: `Bearer ${server.portico.key}` },
      });
      const answered = await response.text();
      assert.equal(JSON.parse(answered).data[0].id, id);
      api.assertDescribed(list, response, answered);
      assert.deepEqual(api.errorsOf(parameter("sort").schema, sort), []);
    }
    assert.match(parameter("deleted").description, /drafts:write/);
  });
});
