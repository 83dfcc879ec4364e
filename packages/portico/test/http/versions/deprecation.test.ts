// What is deprecated announces it: a version, a resource, an operation, an action, a route and a field, by REST and GraphQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app, belongsTo, choice, integer, range, resource, route, text } from "../../../src/index.ts";
import { serve } from "../../support/scenario.ts";
import { type Answer, onOneDatabase, type RequestOptions } from "../../support/server.ts";

const link = "https://books.example/changes";
const field = { since: "2026-03-01", sunset: "2028-01-01" };
const operation = { since: "2026-02-01", sunset: "2027-06-01", link };
const version = { since: "2026-01-01", sunset: "2027-12-01", link: "https://books.example/v2" };

const shelves = resource("shelf", {
  plural: "shelves",
  fields: { room: text({ max: 50, optional: true, deprecated: field }) },
  deprecated: operation,
});

const books = resource("book", {
  fields: {
    name: text({ max: 50 }),
    pages: integer({ default: 0, deprecated: field }),
    binding: choice(["soft", "hard"], { default: "soft" }),
    shelf: belongsTo(() => shelves, { optional: true }),
  },
  filter: [range("pages")],
  sort: ["pages", "name"],
  actions: {
    loans: {
      verb: "lend",
      input: {},
      deprecated: operation,
      run: async ({ current }) => current,
    },
    audits: {
      on: "collection",
      verb: "audit",
      input: {},
      deprecated: operation,
      run: async () => ({ count: 0 }),
    },
  },
  deprecatedOperations: { replace: operation, delete: operation, create: operation },
  versions: { v1: { title: "name" } },
});

const stickers = resource("sticker", { fields: { book: belongsTo(() => books, { optional: true }) } });

const declared = app({
  name: "Books",
  version: "v2",
  versions: { v1: { deprecated: version } },
  resources: [books, shelves, stickers],
  routes: [
    route("GET /v1/status", { public: true, answer: { ok: integer() } }, () => ({ ok: 1 })),
    route("GET /v2/status", { public: true, answer: { ok: integer() }, deprecated: operation }, () => ({
      ok: 1,
    })),
  ],
});

interface Announced {
  readonly since: string;
  readonly sunset?: string;
  readonly link?: string;
}

function requireAnnounced(answer: Answer, { since, sunset, link: page }: Announced, what: string): void {
  assert.equal(answer.headers.get("deprecation"), `@${Date.parse(since) / 1000}`, what);
  assert.equal(answer.headers.get("sunset"), sunset ? new Date(sunset).toUTCString() : null, what);
  const links = page === undefined ? [] : [`<${page}>; rel="deprecation"`, `<${page}>; rel="sunset"`];
  const actual = (answer.headers.get("link") ?? "")
    .split(", ")
    .filter((each) => /"(deprecation|sunset)"/.test(each));
  assert.deepEqual(actual, links, what);
}

onOneDatabase("deprecation", (database) => {
  const server = serve(database, { app: declared });
  const create = async (): Promise<string> => (await server.create("/v2/books", { name: "Faust" })).id;
  const send = (path: string, method: string, body?: unknown): Promise<Answer> => {
    const options: RequestOptions = { method, ...(body !== undefined && { body }) };
    return server.request(path, options);
  };

  test("a deprecated operation, action and route announce it, and the others do not", async () => {
    const id = await create();
    const deprecated = [
      await send("/books", "POST", { name: "Egmont" }),
      await send("/books", "POST", { name: 1 }),
      await send(`/books/${id}`, "PUT", { name: "Egmont" }),
      await send(`/books/${id}/loans`, "POST"),
      await send("/books/audits", "POST"),
      await server.request("/status", { key: null }),
      await send(`/books/${id}`, "DELETE"),
      await send(`/books/${id}`, "DELETE"),
    ];
    assert.deepEqual(
      deprecated.map(({ status }) => status),
      [201, 422, 200, 201, 200, 200, 204, 404],
    );
    for (const answer of deprecated) requireAnnounced(answer, operation, String(answer.status));
    const other = await create();
    for (const answer of [
      await server.request("/books?limit=1&sort=name"),
      await server.request(`/books/${other}`),
      await send(`/books/${other}`, "PATCH", { name: "Clavigo" }),
    ]) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("deprecation"), null);
    }
  });

  test("a deprecated field is announced with the operation, with the earliest dates, beside links to pages", async () => {
    await create();
    await create();
    const list = await server.request("/v2/books?limit=1&pages[gte]=0");
    requireAnnounced(list, field, "filter");
    assert.match(list.headers.get("link")!, /^<\/v2\/books\?.*>; rel="next"$/);
    requireAnnounced(await server.request("/books?fields=shelf.room"), field, "nested");
    requireAnnounced(await server.request("/stickers?fields=book.shelf.room"), field, "nested twice");
    requireAnnounced(await send("/books", "POST", { name: "Urfaust", pages: 9 }), operation, "body");
    requireAnnounced(await server.request("/shelves?sort=-createdAt"), operation, "resource");
    const older = await server.request("/v1/books?limit=1&sort=-pages");
    requireAnnounced(older, version, "version");
    assert.match(older.headers.get("link")!, /^<\/v1\/books\?.*>; rel="next", </);
  });

  test("a deprecated version announces it in every response", async () => {
    for (const [path, status] of [
      ["/v1/books", 200],
      ["/v1/books?title=", 422],
      ["/v1/books/nobody", 404],
      ["/v1/nothing", 404],
      ["/v1/status", 200],
      ["/v1/users", 200],
      ["/v1/events", 200],
    ] as const) {
      const answer = await server.request(path);
      assert.equal(answer.status, status, path);
      requireAnnounced(answer, version, path);
    }
    requireAnnounced(await server.request("/v1/books", { key: null }), version, "401");
    assert.equal((await server.request("/v2/nothing")).headers.get("deprecation"), null);
  });

  test("a repeated request with an Idempotency-Key has the headers of the first", async () => {
    const options = { body: { title: "Stella", pages: 3 }, headers: { "idempotency-key": "once" } };
    for (const replayed of [null, "true"]) {
      const answer = await server.request("/v1/books", options);
      assert.equal(answer.headers.get("idempotent-replayed"), replayed);
      requireAnnounced(answer, { ...version, sunset: "2027-06-01", link }, String(replayed));
    }
    const elsewhere = await server.request("/v2/books", options);
    assert.equal(elsewhere.body.error.code, "idempotency_key_reused");
  });

  test("GraphQL and OpenAPI show what is deprecated", async () => {
    const query = `{ __schema { mutationType { fields(includeDeprecated: true) { name deprecationReason } }
      queryType { fields(includeDeprecated: true) { name deprecationReason } } }
      filter: __type(name: "BookFilter") { inputFields(includeDeprecated: true) { name deprecationReason } }
      sort: __type(name: "BookSort") { enumValues(includeDeprecated: true) { name deprecationReason } }
      book: __type(name: "Book") { fields(includeDeprecated: true) { name deprecationReason } } }`;
    const { data } = (await server.request("/graphql", { body: { query } })).body;
    const named = (list: readonly { name: string; deprecationReason: string | null }[]): string[] =>
      list
        .filter(({ deprecationReason }) => deprecationReason !== null)
        .map(({ name }) => name)
        .sort();
    // biome-ignore format: one list a line
    assert.deepEqual(named(data.__schema.mutationType.fields), ["auditBooks", "createBook", "createShelf", "deleteBook", "deleteShelf", "lendBook", "updateShelf"]);
    assert.deepEqual(named(data.__schema.queryType.fields), ["shelf", "shelves", "shelvesConnection"]);
    assert.deepEqual(named(data.sort.enumValues), ["PAGES_ASC", "PAGES_DESC"]);
    assert.ok(named(data.filter.inputFields).includes("pagesGte"));
    assert.deepEqual(named(data.book.fields), ["pages"]);
    const reason = data.__schema.mutationType.fields.find(
      (each: { name: string }) => each.name === "lendBook",
    );
    assert.equal(
      reason.deprecationReason,
      `Deprecated since 2026-02-01. Will be removed on 2027-06-01. See ${link}`,
    );
    const { paths } = (await server.request("/openapi.json")).body;
    const deprecated = Object.entries<object>(paths).flatMap(([path, operations]) =>
      Object.entries<{ deprecated?: true; "x-sunset"?: string }>(operations as never)
        .filter(([, each]) => each.deprecated)
        .map(([method, each]) => `${method} ${path} ${each["x-sunset"]}`),
    );
    for (const expected of [
      "put /v2/books/{id} 2027-06-01",
      "post /v2/books/{id}/loans 2027-06-01",
      "get /v1/books 2027-12-01",
      "put /v1/books/{id} 2027-06-01",
      "get /v2/status 2027-06-01",
      "get /v1/status 2027-12-01",
      "get /v2/shelves/{id} 2027-06-01",
    ])
      assert.ok(deprecated.includes(expected), expected);
    assert.ok(!deprecated.some((each) => each.startsWith("get /v2/books")));
    const { headers } = paths["/v2/stickers"].get.responses[200];
    assert.ok(headers.Deprecation && headers.Sunset && headers.Link, "nested fields");
    const filter = paths["/v2/books"].get.parameters.find(
      (each: { name: string }) => each.name === "pages[gte]",
    );
    assert.equal(filter.deprecated, true);
    assert.equal(
      (await server.request("/openapi.json")).body.components.schemas.Book.properties.pages.deprecated,
      true,
    );
    const page = await (await fetch(`${server.url}/docs/operations/shelves`)).text();
    assert.match(page, /class="badge warning">deprecated</);
  });
});
