// Filters with every operator, on fields of the row and of related rows, in REST and GraphQL.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  app,
  belongsTo,
  boolean,
  choice,
  contains,
  createServer,
  integer,
  range,
  resource,
  type Server,
  startsWith,
  text,
} from "../../../src/index.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const audits = resource("audit", { fields: { name: text({ max: 9 }) } });
/** Only callers with audits:write see the author whose name is hidden. */
const authors = resource("author", {
  fields: { name: text({ max: 20 }), rank: integer({ optional: true }) },
  policy: ({ caller }) => caller.scopes.has("audits:write") || { name: { not: "hidden" } },
});
const posts = resource("post", {
  fields: {
    title: text({ max: 1_000 }),
    status: choice(["draft", "live"], { default: "draft" }),
    points: integer({ optional: true }),
    author: belongsTo(() => authors, { optional: true }),
  },
  filter: [
    ...(["status", "authorId", "author.name", "comments.isApproved"] as const),
    ...[range("points"), contains("title"), startsWith("title"), range("author.rank")],
  ],
});
const comments = resource("comment", { parent: posts, fields: { isApproved: boolean({ optional: true }) } });
const declared = app({ name: "Filtered", resources: [audits, authors, posts, comments] });

/** Queries of REST and the titles that they return, in the order of creation. */
const queries: readonly (readonly [query: string, titles: string])[] = [
  ["", "Alpha alphabet été Beta 50%_"],
  ["status[ne]=live", "Alpha été 50%_"],
  ["status[in]=draft,live", "Alpha alphabet été Beta 50%_"],
  ["status=draft&status=live", "Alpha alphabet été Beta 50%_"],
  ["status[ne]=live&status[ne]=draft", ""],
  ["points[isNull]=true", "été 50%_"],
  ["points[isNull]=false", "Alpha alphabet Beta"],
  ["points[ne]=1", "alphabet été Beta 50%_"],
  ["points[gte]=1&points[lt]=3", "Alpha alphabet"],
  ["points[in]=1,3", "Alpha Beta"],
  ["title[contains]=alpha", "alphabet"],
  ["title[contains]=l", "Alpha alphabet"],
  ["title[contains]=%25_", "50%_"],
  ["title[contains]=", "Alpha alphabet été Beta 50%_"],
  ["title[startsWith]=Al", "Alpha"],
  ["title[startsWith]=%C3%A9", "été"],
  ["title[startsWith]=50%25", "50%_"],
  ["title[startsWith]=_", ""],
  ["authorId[isNull]=true", "été 50%_"],
  ["author.name=Ada", "Alpha"],
  ["author.name=Ada&author.name=Bob", "Alpha alphabet"],
  ["author.name[ne]=Ada", "alphabet Beta"],
  ["author.rank[gte]=2", "alphabet"],
  ["author.rank[isNull]=true", "Beta"],
  ["comments.isApproved=true", "Alpha Beta"],
  ["comments.isApproved[isNull]=true", "été"],
  ["comments.isApproved=true&author.name=Ada", "Alpha"],
];

/** Filters of GraphQL and the titles that they return. */
const filters: readonly (readonly [filter: string, titles: string])[] = [
  ["{}", "Alpha alphabet été Beta 50%_"],
  ["{ points: null }", "été 50%_"],
  ["{ authorId: null }", "été 50%_"],
  ["{ pointsIsNull: false }", "Alpha alphabet Beta"],
  ["{ pointsNe: 1 }", "alphabet été Beta 50%_"],
  ["{ pointsNe: null }", "Alpha alphabet Beta"],
  ["{ pointsIn: [1, 3] }", "Alpha Beta"],
  ["{ points: [] }", ""],
  ["{ pointsGt: 1, status: draft }", ""],
  ['{ titleContains: "alpha" }', "alphabet"],
  ['{ titleStartsWith: "Al" }', "Alpha"],
  ['{ author: { name: "Ada" } }', "Alpha"],
  ["{ author: { rankGte: 2 } }", "alphabet"],
  ["{ author: {} }", "Alpha alphabet Beta"],
  ["{ comments: { some: { isApproved: true } } }", "Alpha Beta"],
  ["{ comments: { none: {} } }", "alphabet 50%_"],
  ["{ comments: { none: { isApproved: true }, some: {} } }", "été"],
  ['{ OR: [{ titleStartsWith: "B" }, { author: { name: "Ada" } }] }', "Alpha Beta"],
  ["{ OR: [] }", ""],
  ["{ AND: [{ pointsGte: 1 }, { pointsLte: 2 }] }", "Alpha alphabet"],
  ["{ NOT: { pointsGte: 2 } }", "Alpha été 50%_"],
  ['{ NOT: { author: { name: "Ada" } } }', "alphabet été Beta 50%_"],
  ["{ NOT: { OR: [{ points: null }, { NOT: { status: draft } }] } }", "Alpha"],
];

/** Wrong queries with the field and the issue of their errors. */
const wrong: readonly (readonly [query: string, field: string, issue: string])[] = [
  ["title=Alpha", "title", "unknown"],
  ["title[gte]=Alpha", "title[gte]", "unknown"],
  ["status[gte]=draft", "status[gte]", "unknown"],
  ["status[like]=draft", "status[like]", "unknown"],
  ["author.id=x", "author.id", "unknown"],
  ["author[name]=Ada", "author[name]", "unknown"],
  ["status[in]=draft,gone", "status[in]", "choice"],
  ["points[in]=1,,2", "points[in]", "type"],
  [`points[in]=${Array.from({ length: 51 }, (_, index) => index)}`, "points[in]", "max"],
  ["points[isNull]=yes", "points[isNull]", "type"],
  ["points[isNull]=true&points[isNull]=false", "points[isNull]", "duplicate"],
  ["title[contains]=%00", "title[contains]", "format"],
  ["title[startsWith]=a&title[startsWith]=b", "title[startsWith]", "duplicate"],
];

const nested = (depth: number): string => (depth === 0 ? "{}" : `{ NOT: ${nested(depth - 1)} }`);
const wrongFilters: readonly (readonly [filter: string, field: string, issue: string])[] = [
  ["{ pointsGte: null }", "filter.pointsGte", "type"],
  ["{ NOT: null }", "filter.NOT", "type"],
  ["{ author: null }", "filter.author", "type"],
  ["{ comments: { some: null } }", "filter.comments.some", "type"],
  [nested(8), "filter", "max"],
  [`{ OR: [${"{ points: 1 } ".repeat(60)}] }`, "filter", "max"],
  [`{ OR: [${"{} ".repeat(101)}] }`, "filter", "max"],
  [`{ points: [${"1 ".repeat(51)}] }`, "filter.points", "max"],
  ['{ titleContains: "\\u0000" }', "filter.titleContains", "format"],
  ['{ author: { name: "\\u0000" } }', "filter.author.name", "format"],
];

onEachDatabase("filters", (database) => {
  let workspace: Workspace;
  let server: Server;
  let limitedKey = "";
  let unscopedKey = "";

  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  type Body = any;
  async function request(path: string, body?: object, key = server.sandboxKey): Promise<[number, Body]> {
    const response = await fetch(server.url + path, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  }
  const make = async (path: string, body: object): Promise<Body> => (await request(path, body))[1];
  const titlesOf = (rows: readonly { title: string }[]): string =>
    rows
      .map(({ title }) => title)
      .reverse()
      .join(" ");
  const listed = async (query: string, key?: string): Promise<string> => {
    const [status, body] = await request(`/posts?${query}`, undefined, key);
    assert.equal(status, 200, JSON.stringify(body));
    return titlesOf(body.data);
  };
  const graphql = async (filter: string, key?: string): Promise<Body> => {
    const query = `{ postsConnection(filter: ${filter}) { edges { node { title } } } }`;
    return (await request("/graphql", { query }, key))[1];
  };

  before(async () => {
    workspace = await makeWorkspace(database);
    server = await createServer(declared, {
      ...{ databaseUrl: workspace.databaseUrl, port: 0, log: false },
    } as never);
    await server.listen();
    const [ada, bob, hidden] = await Promise.all(
      [{ name: "Ada", rank: 1 }, { name: "Bob", rank: 2 }, { name: "hidden" }].map((body) =>
        make("/authors", body),
      ),
    );
    const bodies = [
      { title: "Alpha", points: 1, authorId: ada.id },
      { title: "alphabet", points: 2, status: "live", authorId: bob.id },
      { title: "été" },
      { title: "Beta", points: 3, status: "live", authorId: hidden.id },
      { title: "50%_" },
    ];
    const made: { id: string }[] = [];
    for (const body of bodies) made.push(await make("/posts", body));
    await make(`/posts/${made[0]!.id}/comments`, { isApproved: true });
    await make(`/posts/${made[0]!.id}/comments`, { isApproved: false });
    await make(`/posts/${made[2]!.id}/comments`, {});
    await make(`/posts/${made[3]!.id}/comments`, { isApproved: true });
    const scopes = ["posts:read", "authors:read", "comments:read"];
    limitedKey = (await make("/v1/api-keys", { name: "Limited", scopes })).key;
    unscopedKey = (await make("/v1/api-keys", { name: "Posts only", scopes: ["posts:read"] })).key;
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  for (const [query, titles] of queries)
    test(`?${query} returns ${titles || "nothing"}`, async () => {
      assert.equal(await listed(query), titles);
      // The same, page by page.
      let [, page] = await request(`/posts?${query}&limit=1`);
      const rows = [...page.data];
      while (page.pagination.nextCursor) {
        [, page] = await request(`/posts?${query}&limit=1&cursor=${page.pagination.nextCursor}`);
        rows.push(...page.data);
      }
      assert.equal(titlesOf(rows), titles);
    });

  for (const [filter, titles] of filters)
    test(`filter: ${filter} returns ${titles || "nothing"}`, async () => {
      const { data, errors } = await graphql(filter);
      assert.equal(errors, undefined);
      assert.equal(
        titlesOf(data.postsConnection.edges.map(({ node }: { node: { title: string } }) => node)),
        titles,
      );
    });

  test("wrong filters are refused", async () => {
    for (const [query, field, issue] of wrong) {
      const [status, { error }] = await request(`/posts?${query}`);
      assert.equal(status, 422, query);
      assert.deepEqual(
        error.details.map((each: object) => each),
        [{ field, issue }],
        query,
      );
    }
    for (const [filter, field, issue] of wrongFilters) {
      const { errors } = await graphql(filter);
      assert.deepEqual(
        errors?.[0]?.extensions?.details,
        [{ field, issue }],
        `${filter} ${JSON.stringify(errors)}`,
      );
    }
    for (const filter of [
      "{ title: 1 }",
      "{ statusGte: draft }",
      "{ author: { rating: 1 } }",
      "{ comments: {} , x: 1 }",
    ])
      assert.equal((await graphql(filter)).errors[0].extensions.code, "validation_error", filter);
  });

  test("a filter does not reveal related rows that a policy hides", async () => {
    for (const [query, titles] of [
      ["author.name=hidden", ""],
      ["author.name[ne]=Ada", "alphabet"],
      ["author.rank[isNull]=true", ""],
    ] as const) {
      assert.notEqual(await listed(query), titles);
      assert.equal(await listed(query, limitedKey), titles);
    }
    const { data } = await graphql('{ NOT: { author: { name: "hidden" } } }', limitedKey);
    assert.equal(data.postsConnection.edges.length, 5);
  });

  test("a filter on related rows needs their scope", async () => {
    for (const [query, scope] of [
      ["author.name=Ada", "authors:read"],
      ["comments.isApproved=true", "comments:read"],
    ]) {
      const [status, { error }] = await request(`/posts?${query}`, undefined, unscopedKey);
      assert.equal(status, 403);
      assert.match(error.message, new RegExp(scope!));
    }
    const { errors } = await graphql("{ OR: [{ author: { rankGt: 1 } }] }", unscopedKey);
    assert.equal(errors[0].extensions.code, "insufficient_scope");
    assert.equal(await listed("authorId[isNull]=true", unscopedKey), "été 50%_");
  });

  test("a cursor is valid for its filter only", async () => {
    const [, page] = await request("/posts?limit=1&author.name[ne]=Zoe");
    const cursor = page.pagination.nextCursor;
    assert.equal((await request(`/posts?limit=1&author.name[ne]=Zoe&cursor=${cursor}`))[0], 200);
    for (const query of ["author.name=Zoe", "author.name[ne]=Zoé", "status[ne]=live", ""])
      assert.equal((await request(`/posts?limit=1&${query}&cursor=${cursor}`))[0], 400, query);
  });

  test("a subscription matches the row as it was written and related rows as they are", async () => {
    const [, { data }] = await request("/authors?limit=100");
    const idOf = (name: string): string => data.find((each: { name: string }) => each.name === name).id;
    const open = (filter: string, key = server.sandboxKey!) =>
      TestStream.open({ url: server.url, key }, `subscription { postCreated(filter: ${filter}) { title } }`);
    const ofHidden = '{ author: { name: "hidden" } }';
    const streams = await Promise.all([
      open('{ OR: [{ author: { name: "Ada" } }, { titleContains: "!" }] }'),
      open(ofHidden),
      open(`{ OR: [${ofHidden}, { titleContains: "!" }] }`, limitedKey),
      open("{ comments: { none: {} }, points: null }"),
    ]);
    for (const [title, name] of [
      ["of Ada", "Ada"],
      ["of Bob", "Bob"],
      ["of hidden", "hidden"],
      ["end!", "Bob"],
    ] as const)
      assert.equal(
        (await request("/posts", { title, authorId: idOf(name), ...(name === "Bob" && { points: 9 }) }))[0],
        201,
      );
    await request("/posts", { title: "last!", authorId: idOf("hidden") });
    const expected = [
      ["of Ada", "end!", "last!"],
      ["of hidden", "last!"],
      ["end!", "last!"],
      ["of Ada", "of hidden", "last!"],
    ];
    for (const [index, stream] of streams.entries()) {
      const results = await stream.results(expected[index]!.length);
      assert.deepEqual(
        results.map((each) => each.data.postCreated.title),
        expected[index],
      );
      stream.close();
    }
    const unscoped = await fetch(`${server.url}/graphql`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${unscopedKey}`,
        "content-type": "application/json",
        accept: "text/event-stream",
      },
      body: JSON.stringify({ query: `subscription { postCreated(filter: ${ofHidden}) { title } }` }),
    });
    assert.match(await unscoped.text(), /"insufficient_scope"/);
  });
});
