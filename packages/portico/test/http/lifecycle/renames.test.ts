// Renamed fields and resources: two versions of an app serve the same database, each with its own names.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { belongsTo, choice, integer, text } from "../../../src/declare/field.ts";
import { range } from "../../../src/declare/filter.ts";
import { resource } from "../../../src/declare/resource.ts";
import { users } from "../../../src/index.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { onEachDatabase } from "../../support/server.ts";
import { TwoVersions } from "../../support/two-versions.ts";

const oldPosts = resource("post", {
  fields: {
    title: text({ max: 100 }),
    state: choice(["draft", "open"], { default: "draft" }),
    rank: integer({ default: 0 }),
    writer: belongsTo(() => users, { optional: true }),
    slug: text({ max: 50, optional: true, unique: true }),
  },
  filter: ["state", "writerId", range("rank")],
  sort: ["title"],
  search: ["title"],
});
const oldNotes = resource("note", { parent: oldPosts, fields: { body: text({ max: 100 }) } });

const articles = resource("article", {
  was: "post",
  fields: {
    headline: text({ max: 100, was: "title" }),
    status: choice(["draft", "open"], { default: "draft", was: "state" }),
    weight: integer({ default: 0, was: "rank" }),
    author: belongsTo(() => users, { optional: true, was: "writer" }),
    handle: text({ max: 50, optional: true, unique: true, was: "slug" }),
  },
  filter: ["status", "authorId", range("weight")],
  sort: ["headline"],
  search: ["headline"],
  policy: ({ caller }) => caller.userId !== null || { status: "open" },
  hooks: { before: { update: ({ headline }) => (headline === "shout" ? { headline: "SHOUT" } : undefined) } },
});
const remarks = resource("remark", { was: "note", parent: articles, fields: { body: text({ max: 100 }) } });

onEachDatabase("a renamed field and a renamed resource", (database) => {
  let versions: TwoVersions;
  before(async () => {
    versions = await TwoVersions.start(database, [oldPosts, oldNotes], [articles, remarks]);
  });
  after(() => versions?.stop());

  test("the migration has nothing to do", async () => {
    assert.deepEqual((await versions.migrate()).statements, []);
  });

  test("each version reads and writes the same rows under its own names", async () => {
    const { body: post } = await versions.old.request("/posts", {
      body: { title: "One", rank: 3, slug: "one" },
    });
    const { body: article } = await versions.new.request(`/articles/${post.id}`);
    const { headline, status, weight, handle } = article;
    assert.deepEqual(
      { headline, status, weight, handle },
      { headline: "One", status: "draft", weight: 3, handle: "one" },
    );
    assert.equal("title" in article, false);
    await versions.new.request(`/articles/${post.id}`, {
      method: "PATCH",
      body: { headline: "shout", status: "open" },
    });
    const { body: changed } = await versions.old.request(`/posts/${post.id}`);
    assert.deepEqual([changed.title, changed.state], ["SHOUT", "open"]);
  });

  test("filters, sorts, search and unique fields have the new names", async () => {
    for (const [headline, weight] of [
      ["Beta", 1],
      ["Alpha", 2],
    ] as const)
      assert.equal(
        (await versions.new.request("/articles", { body: { headline, weight, handle: headline } })).status,
        201,
      );
    const titles = async (query: string): Promise<string[]> => {
      const { body, text: answer } = await versions.new.request(`/articles?${query}`);
      assert.ok(body.data, answer);
      return body.data.map(({ headline }: { headline: string }) => headline);
    };
    assert.deepEqual(await titles("weight[gte]=1&weight[lt]=3&status=draft"), ["Alpha", "Beta"]);
    assert.deepEqual((await titles("sort=headline")).slice(0, 2), ["Alpha", "Beta"]);
    assert.deepEqual(await titles("q=alph"), ["Alpha"]);
    assert.equal((await versions.new.request("/articles?state=draft")).status, 422);
    const { status, body } = await versions.new.request("/articles", {
      body: { headline: "X", handle: "Alpha" },
    });
    assert.deepEqual([status, body.error.details[0].field], [409, "handle"]);
  });

  test("ids keep their prefix, and a child keeps its parent", async () => {
    const { body: article } = await versions.new.request("/articles", { body: { headline: "Parent" } });
    assert.match(article.id, /^post_/);
    const { body: remark } = await versions.new.request(`/articles/${article.id}/remarks`, {
      body: { body: "Yes" },
    });
    assert.equal(remark.articleId, article.id);
    const { body: note } = await versions.old.request(`/notes/${remark.id}`);
    assert.equal(note.postId, article.id);
  });

  test("a key of the old version keeps its scopes", async () => {
    const { body } = await versions.old.request("/api-keys", {
      body: { name: "Old", scopes: ["posts:read"] },
    });
    const { status } = await versions.new.request("/articles", { key: body.key });
    assert.equal(status, 200);
  });

  test("subscribers of both versions receive the events of both, under their own names", async () => {
    const ofNew = await TestStream.open(
      versions.new,
      "subscription { articleCreated { id headline authorId } }",
    );
    const ofOld = await TestStream.open(versions.old, "subscription { postCreated { id title writerId } }");
    const child = await TestStream.open(versions.new, "subscription { remarkCreated { id body articleId } }");
    const { body: post } = await versions.old.request("/posts", { body: { title: "By old" } });
    const { body: article } = await versions.new.request("/articles", { body: { headline: "By new" } });
    const { body: note } = await versions.old.request(`/posts/${post.id}/notes`, { body: { body: "Child" } });
    const rowsOf = async (stream: TestStream, field: string, count: number) =>
      (await stream.results(count)).map(({ data }) => data[field]);
    assert.deepEqual(await rowsOf(ofNew, "articleCreated", 2), [
      { id: post.id, headline: "By old", authorId: null },
      { id: article.id, headline: "By new", authorId: null },
    ]);
    assert.deepEqual(await rowsOf(ofOld, "postCreated", 2), [
      { id: post.id, title: "By old", writerId: null },
      { id: article.id, title: "By new", writerId: null },
    ]);
    assert.deepEqual(await rowsOf(child, "remarkCreated", 1), [
      { id: note.id, body: "Child", articleId: post.id },
    ]);
    for (const stream of [ofNew, ofOld, child]) stream.close();
  });
});
