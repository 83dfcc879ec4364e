// A resource in two versions of the API: what `versions` of its declaration says holds wherever REST names a field.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { before, describe, test } from "node:test";
import { expectAnswer, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/gazette");

onEachDatabase("an older version of the API", (database) => {
  const server = serve(database, { cwd });
  describe("rows", () => rows(server));
  describe("bodies", () => bodies(server));
});

const put = (body: unknown) => ({ method: "PUT", body });
const patch = (body: unknown, headers: Record<string, string> = {}) => ({ method: "PATCH", body, headers });

function rows(server: TestServer): void {
  let writer: Answer["body"];
  let article: Answer["body"];
  before(async () => {
    writer = await server.create("/v2/writers", { name: "Ada" });
    const label = await server.create("/v2/labels", { word: "code" });
    article = await server.create("/v2/articles", {
      ...{ headline: "Engines", title: "column", slug: "engines", words: 12, authorId: writer.id },
      labelIds: [label.id],
      teaser: "On engines",
    });
    await server.create(`/v2/articles/${article.id}/remarks`, { body: "Yes" });
  });

  test("a row has the names of the version, and the same values", async () => {
    const { headline, words, authorId, labelIds, cover, approvedBy, teaser, title, ...same } = article;
    const { body } = await server.request(`/v1/articles/${article.id}`);
    const renamed = { title: headline, wordCount: words, writerId: authorId, tagIds: labelIds };
    assert.deepEqual(body, { ...same, ...renamed, image: cover, checkedBy: approvedBy });
    assert.deepEqual(
      [teaser, title, Object.keys(body).slice(0, 4)],
      ["On engines", "column", ["id", "title", "slug", "wordCount"]],
    );
    assert.deepEqual((await server.request("/v1/articles")).body.data, [body]);
    for (const path of ["/v2", ""])
      assert.deepEqual((await server.request(`${path}/articles/${article.id}`)).body, article);
  });

  test("fields, sort and filters have the names of the version, nested rows and counts too", async () => {
    const fields = "title,comments,writer.fullName,writer.articleCount,tags.word";
    const { body } = await server.request(`/v1/articles/${article.id}?fields=${fields}`);
    assert.deepEqual(body, {
      ...{ id: article.id, title: "Engines", comments: 1 },
      ...{ writer: { id: writer.id, fullName: "Ada", articleCount: 1 }, tags: body.tags },
    });
    assert.equal(body.tags[0].word, "code");
    for (const query of [
      "title=Engines",
      "title[contains]=ngine",
      "wordCount[gte]=12",
      "writer.fullName=Ada",
      `tagIds=${article.labelIds[0]}`,
      "remarks.text=Yes",
      "sort=-wordCount,title",
      "q=eng",
    ])
      assert.equal((await server.request(`/v1/articles?${query}`)).body.data?.length, 1, query);
    for (const [query, field] of [
      ["headline=Engines", "headline"],
      ["words[gt]=1", "words[gt]"],
      ["author.name=Ada", "author.name"],
      ["sort=headline", "sort"],
      ["fields=words", "fields"],
      ["fields=teaser", "fields"],
    ] as const) {
      const refused = await server.request(`/v1/articles?${query}`);
      expectAnswer(refused, { status: 422, code: "validation_error" });
      assert.equal(refused.body.error.details[0].field, field, query);
      expectAnswer(await server.request(`/v2/articles?${query}`), { status: 200 });
    }
    expectAnswer(await server.request("/v1/articles?sort=title,title"), {
      status: 422,
      message: /title twice/,
    });
  });

  test("a cursor of one version continues the same list in the other", async () => {
    await server.create("/v2/articles", { headline: "Later", slug: "later" });
    const first = (await server.request("/v1/articles?sort=title&limit=1")).body;
    const next = (
      await server.request(`/v2/articles?sort=headline&limit=1&cursor=${first.pagination.nextCursor}`)
    ).body;
    assert.deepEqual([first.data[0].title, next.data[0].headline], ["Engines", "Later"]);
  });

  test("a nested collection is served in both versions", async () => {
    const path = `articles/${article.id}/remarks`;
    const older = (await server.request(`/v1/${path}`)).body.data[0];
    const current = (await server.request(`/${path}`)).body.data[0];
    assert.deepEqual([older.text, current.body, older.id], ["Yes", "Yes", current.id]);
  });
}

function bodies(server: TestServer): void {
  test("a row that is written in one version is the same in the other", async () => {
    const created = await server.request("/v1/articles", {
      body: { title: "Sea", slug: "sea", wordCount: 3 },
    });
    expectAnswer(created, { status: 201, body: { title: "Sea", wordCount: 3 } });
    const { id } = created.body;
    assert.equal(created.headers.get("location"), `/v1/articles/${id}`);
    const read = await server.request(`/v1/articles/${id}`);
    assert.deepEqual(read.body, created.body);
    assert.equal(read.headers.get("etag"), created.headers.get("etag"));
    const current = (await server.request(`/v2/articles/${id}`)).body;
    assert.deepEqual([current.headline, current.words, current.teaser], ["Sea", 3, ""]);
    const changed = await server.request(
      `/v1/articles/${id}`,
      patch({ wordCount: 4 }, { "if-match": read.headers.get("etag")! }),
    );
    expectAnswer(changed, { status: 200, body: { title: "Sea", wordCount: 4 } });
    const stale = patch({ wordCount: 5 }, { "if-match": read.headers.get("etag")! });
    expectAnswer(await server.request(`/v1/articles/${id}`, stale), { status: 412 });
  });

  test("PUT keeps the fields that the version does not have", async () => {
    const { id } = await server.create("/v2/articles", {
      ...{ headline: "Kept", slug: "kept", teaser: "stays", title: "too", words: 9 },
    });
    expectAnswer(await server.request(`/v1/articles/${id}`, put({ title: "Kept!" })), { status: 200 });
    expectAnswer(await server.request(`/v2/articles/${id}`), {
      ...{ status: 200, body: { headline: "Kept!", slug: "kept!", teaser: "stays", title: "too", words: 0 } },
    });
  });

  test("errors have the names of the version", async () => {
    const refused = await server.request("/v1/articles", {
      body: {
        headline: "x",
        teaser: "x",
        words: 1,
        title: "y",
        wordCount: -1,
        writerId: "nobody",
        checkedBy: "me",
      },
    });
    expectAnswer(refused, {
      status: 422,
      details: [
        { field: "headline", issue: "unknown" },
        { field: "teaser", issue: "unknown" },
        { field: "words", issue: "unknown" },
        { field: "title", issue: "min" },
        { field: "wordCount", issue: "min" },
        { field: "writerId", issue: "reference" },
        { field: "checkedBy", issue: "read_only" },
      ],
    });
    assert.match(refused.body.error.message, /Unknown field `headline`\./);
    expectAnswer(await server.request("/v1/articles", { body: { title: "Untitled" } }), {
      ...{
        status: 422,
        message: /^`title` must say something/,
        details: [{ field: "title", issue: "format" }],
      },
    });
    expectAnswer(await server.request("/v1/articles", { body: {} }), {
      ...{ status: 422, message: /^`title` is required/, details: [{ field: "title", issue: "required" }] },
    });
    for (const version of ["v1", "v2"])
      await server.request(`/${version}/labels`, { body: { word: "once" } });
  });

  test("errors name fields that have changed names, and the input of an action as in all versions", async () => {
    const { id } = await server.create("/v1/places", { row: "1", column: "a" });
    expectAnswer(await server.request(`/v2/places/${id}`), { status: 200, body: { row: "a", column: "1" } });
    const refused = await server.request("/v1/places", { body: { row: "1", column: "a" } });
    expectAnswer(refused, {
      status: 409,
      message: /the same column and row\.$/,
      details: [
        { field: "column", issue: "duplicate" },
        { field: "row", issue: "duplicate" },
      ],
    });
    const move = (version: string, row: string): Promise<Answer> =>
      server.request(`/${version}/places/${id}/moves`, { body: { row } });
    for (const version of ["v1", "v2"])
      expectAnswer(await move(version, "too long"), {
        ...{ status: 422, message: /^`row` must/, details: [{ field: "row", issue: "max" }] },
      });
    // The action accepts more than the row does.
    expectAnswer(await move("v1", "long"), { status: 422, details: [{ field: "column", issue: "max" }] });
    expectAnswer(await move("v2", "long"), { status: 422, details: [{ field: "row", issue: "max" }] });
    expectAnswer(await move("v1", "b"), { status: 201, body: { row: "1", column: "b" } });
  });

  test("actions, deletion and restoration work in both versions", async () => {
    const { id } = await server.create("/v1/articles", { title: "Away", slug: "away" });
    const approved = await server.request(`/v1/articles/${id}/approvals`, { body: { by: "Eve" } });
    expectAnswer(approved, { status: 201, body: { title: "Away", checkedBy: "Eve" } });
    expectAnswer(await server.request(`/v1/articles/${id}`, { method: "DELETE" }), { status: 204 });
    const deleted = await server.request(`/v1/articles/${id}?deleted=true&fields=title,deletedAt`);
    assert.deepEqual(Object.keys(deleted.body), ["id", "title", "deletedAt"]);
    const listed = (await server.request("/v1/articles?deleted=true&title=Away&sort=title")).body;
    assert.deepEqual(
      listed.data.map((each: Answer["body"]) => each.title),
      ["Away"],
    );
    const restored = await server.request(`/v1/articles/${id}/restorations`, { method: "POST" });
    expectAnswer(restored, { status: 201, body: { title: "Away" } });
  });

  test("a resource is served in the versions that have it", async () => {
    await server.create("/issues", { number: 1 });
    expectAnswer(await server.request("/v2/issues"), { status: 200 });
    expectAnswer(await server.request("/v1/issues"), { status: 404 });
    const article = await server.create("/v1/articles", { title: "Paper", slug: "paper" });
    await server.create("/v1/pages", { number: 1, articleId: article.id });
    // Its references lead to rows with the names of its version.
    const query = "fields=article.title&article.title=Paper";
    for (const path of ["/v1/pages", "/v1/exports/pages"])
      expectAnswer(await server.request(`${path}?${query}&limit=1`), { status: 200 });
    expectAnswer(await server.request("/v1/pages?fields=article.headline"), { status: 422 });
    expectAnswer(await server.request("/v1/pages?article.headline=Paper"), { status: 422 });
    expectAnswer(await server.request("/pages"), { status: 404 });
    expectAnswer(await server.request("/v2/pages"), { status: 404 });
    for (const path of ["/v1/users", "/v2/users", "/users", "/v1/api-keys"])
      expectAnswer(await server.request(path), { status: 200 });
  });
}
