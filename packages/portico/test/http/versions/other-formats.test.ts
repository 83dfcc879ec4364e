// An older version of the API beyond single requests for rows: exports, imports, events, files, and what modules serve.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { randomRuns } from "../../support/random-runs.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/gazette");

onEachDatabase("older versions of exports, imports and events", (database) => {
  const server = serve(database, { cwd });
  const lines = async (path: string): Promise<Answer["body"][]> => {
    const response = await fetch(server.url + path, {
      headers: { authorization: `Bearer ${server.portico.key}` },
    });
    assert.equal(response.status, 200, path);
    return (await response.text()).trimEnd().split("\n");
  };
  const importLines = (path: string, type: string, body: string): Promise<Answer> =>
    server.request(path, { method: "POST", headers: { "content-type": type }, body });

  test("an export of one version can be imported in the same one", async () => {
    await server.create("/v2/articles", { headline: "Wind", slug: "wind", words: 5, teaser: "kept" });
    const [text] = await lines("/v1/exports/articles?sort=title&title=Wind");
    const row = JSON.parse(text);
    assert.deepEqual([row.title, row.wordCount, row.teaser], ["Wind", 5, undefined]);
    const [header] = await lines("/v1/exports/articles?format=csv&fields=title,writer.fullName");
    assert.equal(header, "id,title,writer.id,writer.fullName\r");
    assert.ok((await lines("/v2/exports/articles"))[0].includes('"headline":"Wind"'));

    const ndjson = "application/x-ndjson";
    const line = JSON.stringify({ ...row, slug: "storm", title: "Storm" });
    const created = await importLines("/v1/imports/articles?readOnly=ignore", ndjson, line);
    expectAnswer(created, { status: 200, body: { created: 1, failed: 0 } });
    const upsert = "/v1/imports/articles?mode=upsert&by=slug";
    const csv = await importLines(upsert, "text/csv", "slug,title,wordCount\nstorm,Tempest,7\n");
    expectAnswer(csv, { status: 200, body: { updated: 1 } });
    const [stored] = (await server.request("/v2/articles?headline=Tempest")).body.data;
    assert.deepEqual([stored.words, stored.slug], [7, "storm"]);

    const refused = await importLines("/v1/imports/articles", ndjson, '{"headline":"x","wordCount":-1}');
    assert.equal(refused.status, 422);
    assert.deepEqual(
      refused.body.errors[0].error.details.map((each: { field: string }) => each.field).sort(),
      ["headline", "title", "wordCount"],
    );
    expectAnswer(await importLines("/v1/imports/issues", ndjson, '{"number":1}'), { status: 404 });
    const path = `/v1/imports/remarks`;
    const remark = await importLines(path, ndjson, JSON.stringify({ articleId: row.id, text: "Good" }));
    expectAnswer(remark, { status: 200, body: { created: 1 } });
  });

  test("what only one version has is exported and imported there only", async () => {
    const ndjson = "application/x-ndjson";
    const { paths } = (await server.request("/openapi.json")).body;
    for (const [collection, version, other] of [
      ["pages", "v1", "v2"],
      ["issues", "v2", "v1"],
    ]) {
      const imported = await importLines(`/${version}/imports/${collection}`, ndjson, '{"number":1}');
      expectAnswer(imported, { status: 200, body: { created: 1 } });
      const rows = (await lines(`/${version}/exports/${collection}`)).map((each) => JSON.parse(each));
      assert.deepEqual([rows.length, rows[0].number], [1, 1]);
      expectAnswer(await server.request(`/${other}/exports/${collection}`), { status: 404 });
      expectAnswer(await importLines(`/${other}/imports/${collection}`, ndjson, '{"number":1}'), {
        status: 404,
      });
      for (const path of ["exports", "imports"]) {
        assert.ok(`/${version}/${path}/${collection}` in paths);
        assert.ok(!(`/${other}/${path}/${collection}` in paths));
      }
    }
  });

  test("events have the names of the version of their path, and pages of one continue in the other", async () => {
    const { id } = await server.create("/v1/articles", { title: "Rain", slug: "rain" });
    const query = `resourceId=${id}&limit=1`;
    const older = (await server.request(`/v1/events?${query}`)).body.data[0];
    const current = (await server.request(`/v2/events?${query}`)).body.data[0];
    assert.deepEqual(
      [older.data.title, older.data.headline, older.data.teaser],
      ["Rain", undefined, undefined],
    );
    assert.deepEqual([current.data.headline, current.data.teaser, current.id], ["Rain", "", older.id]);
    const single = (await server.request(`/v1/events/${older.id}`)).body;
    assert.deepEqual(single, older);
    const exported = (await lines(`/v1/exports/events?resourceId=${id}`)).map((each) => JSON.parse(each));
    assert.deepEqual(exported, [older]);
  });

  test("files have the name of their field in the version, in forms and uploads", async () => {
    const form = new FormData();
    form.set("title", "Snow");
    form.set("slug", "snow");
    form.set("image", new Blob(["white"], { type: "text/plain" }), "snow.txt");
    const headers = { authorization: `Bearer ${server.portico.key}` };
    const response = await fetch(`${server.url}/v1/articles`, { method: "POST", headers, body: form });
    const created = await response.json();
    assert.equal(response.status, 201, JSON.stringify(created));
    assert.equal(created.image.name, "snow.txt");
    assert.equal(await (await fetch(created.image.url)).text(), "white");
    const announced = { resource: "articles", name: "a.txt", type: "text/plain", size: 1 };
    expectAnswer(await server.request("/v1/uploads", { body: { ...announced, field: "image" } }), {
      status: 201,
    });
    expectAnswer(await server.request("/v1/uploads", { body: { ...announced, field: "cover" } }), {
      status: 422,
    });
    expectAnswer(await server.request("/v2/uploads", { body: { ...announced, field: "cover" } }), {
      status: 201,
    });
  });

  test("what the server itself offers is in every version", async () => {
    for (const path of ["me", "api-keys", "webhook-endpoints", "grants", "events", "users"])
      for (const version of ["v1", "v2"]) {
        const { status } = await server.request(`/${version}/${path}`);
        assert.equal(status, 200, `/${version}/${path}`);
      }
  });

  test("a row is the same in both versions, whichever it is written in", async () => {
    const value = fc.record({
      title: fc.string({ minLength: 2, maxLength: 20 }).filter((text) => text !== "Untitled"),
      slug: fc.uuid(),
      wordCount: fc.nat(),
      status: fc.constantFrom("draft", "published"),
    });
    const steps = fc.array(fc.tuple(fc.constantFrom("v1", "v2"), fc.constantFrom("PUT", "PATCH"), value), {
      ...{ minLength: 1, maxLength: 4 },
    });
    const names: Readonly<Record<string, string>> = { title: "headline", wordCount: "words" };
    const current = (row: object): object =>
      Object.fromEntries(Object.entries(row).map(([name, each]) => [names[name] ?? name, each]));
    await fc.assert(
      fc.asyncProperty(value, steps, async (first, rest) => {
        const { id } = await server.create("/v1/articles", first);
        let teaser = "";
        const requireSame = async (row: typeof first): Promise<void> => {
          const older = await server.request(`/v1/articles/${id}`);
          const newer = await server.request(`/v2/articles/${id}`);
          assert.partialDeepStrictEqual(older.body, row);
          assert.partialDeepStrictEqual(newer.body, { ...current(row), teaser });
          assert.notEqual(older.headers.get("etag"), newer.headers.get("etag"));
        };
        await requireSame(first);
        for (const [version, method, row] of rest) {
          if (version === "v2") teaser = row.slug;
          const body = version === "v1" ? row : { ...current(row), teaser };
          const written = await server.request(`/${version}/articles/${id}`, { method, body });
          assert.equal(written.status, 200, written.text);
          const read = await server.request(`/${version}/articles/${id}`);
          assert.deepEqual(
            [written.text, written.headers.get("etag")],
            [read.text, read.headers.get("etag")],
          );
          await requireSame(row);
        }
      }),
      { numRuns: randomRuns(15, 5) },
    );
  });
});
