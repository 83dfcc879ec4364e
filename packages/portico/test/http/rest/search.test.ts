// `q`: each of its words must be the prefix of a word in a searched field, in any script; any text is valid.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const posts = [
  { title: "Quick brown fox", body: "jumps over the lazy dog" },
  { title: "Slow brown bear", body: "sleeps: don't wake it up" },
  { title: "Crème brûlée", body: "STRASSE und Straße" },
  { title: "日本語の本", body: "東京 タワー" },
  { title: "Привет мир", body: "αβγ ∑ 2026" },
  { title: "C++ & node-fetch", body: "a_b snake_case e-mail x@y.z" },
];

/** The search text -> the positions of the posts that match. */
const searches: readonly (readonly [string, readonly number[]])[] = [
  ["quick", [0]],
  ["QUICK", [0]],
  ["qui", [0]],
  ["uick", []],
  ["brown", [0, 1]],
  ["brown fox", [0]],
  ["fox brown", [0]],
  ["brown quicker", []],
  ["fox dog", [0]],
  ["brown sleeps", [1]],
  ["creme", [2]],
  ["CRÈME BRULEE", [2]],
  ["cre\u0300me", [2]],
  ["strasse", [2]],
  ["日本", [3]],
  ["東京", [3]],
  ["タワ", [3]],
  ["привет", [4]],
  ["МИР", [4]],
  ["αβ", [4]],
  ["2026", [4]],
  ["c++", [2, 5]],
  ["node fetch", [5]],
  ["node-fetch", [5]],
  ["snake", [5]],
  ["x@y.z", [5]],
  ["don't", [1]],
];

/** Texts that a query language might interpret: they contain no word, or words that no post has. */
const legal = [
  "",
  " ",
  '"',
  "'",
  '"unclosed',
  "AND",
  "OR NOT",
  "NEAR(a b)",
  "title:quick",
  "*",
  "quick*",
  "(quick",
  "quick)",
  "^quick",
  "a & b | !c",
  "a:*",
  "'; drop table posts; --",
  "\\",
  "%",
  "_",
  "=tenant",
  "-quick",
  "\u0000",
  "\u{1f680}",
  "\u0301",
  "word ".repeat(500),
  Array.from({ length: 2_500 }, (_, number) => number.toString(36)).join(" "),
  "x".repeat(5_000),
  "語".repeat(1_500),
];

onEachDatabase("search", (database) => {
  let author = "";
  const server = serve(database, {
    prepare: async (at) => {
      author = (await at.create("/users", { name: "Writer", email: "writer@example.com" })).id;
      for (const post of posts) await at.create("/posts", { ...post, authorId: author });
    },
  });
  const search = (text: string, more = "") =>
    server.request(`/posts?authorId=${author}&sort=createdAt&q=${encodeURIComponent(text)}${more}`);
  const positions = async (text: string) => {
    const { body, text: shown } = await search(text);
    assert.ok(Array.isArray(body.data), shown);
    return body.data.map(({ title }: { title: string }) => posts.findIndex((post) => post.title === title));
  };

  for (const [text, matches] of searches) {
    test(`'${text}' finds ${matches.length === 0 ? "nothing" : `the posts ${matches.join(" and ")}`}`, async () => {
      assert.deepEqual(await positions(text), matches);
    });
  }

  for (const text of legal) {
    const shown = JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text);
    test(`${shown} is a valid text to search for`, async () => {
      expectAnswer(await search(text), { status: 200 });
    });
  }

  test("a search without a word returns every row", async () => {
    assert.equal((await positions("")).length, posts.length);
    assert.equal((await positions(" \"*' ")).length, posts.length);
  });

  test("a changed row is found by its new words, and no longer by its old ones", async () => {
    const { id } = await server.create("/posts", { title: "Before", body: "kept", authorId: author });
    const idsOf = async (text: string) => (await search(text)).body.data.map((row: { id: string }) => row.id);
    await server.request(`/posts/${id}`, { method: "PATCH", body: { title: "After" } });
    assert.deepEqual(await idsOf("before"), []);
    assert.deepEqual(await idsOf("after"), [id]);
    assert.deepEqual(await idsOf("after kept"), [id]);
    await server.request(`/posts/${id}`, { method: "DELETE" });
    assert.deepEqual(await idsOf("after"), []);
  });

  test("a search continues from page to page, together with a filter", async () => {
    const first = await search("brown", "&limit=1&status=draft");
    assert.equal(first.body.data[0].title, posts[0]!.title);
    const second = await search("brown", `&limit=1&status=draft&cursor=${first.body.pagination.nextCursor}`);
    assert.equal(second.body.data[0].title, posts[1]!.title);
    assert.equal(second.body.pagination.hasMore, false);
  });
});
