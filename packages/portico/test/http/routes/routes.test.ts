// Routes that an app declares: what their handlers get and return, who may call them, and what they write.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import {
  app,
  belongsTo,
  boolean,
  choice,
  date,
  decimal,
  integer,
  json,
  list,
  Problem,
  resource,
  route,
  text,
  timestamp,
  users,
} from "../../../src/index.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const projects = resource("project", {
  fields: {
    name: text({ min: 1, max: 50 }),
    issues: integer({ default: 0 }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
});

const project = { name: text(), issues: integer() };

const declared = app({
  name: "Tracker",
  resources: [projects],
  roles: { owner: "*", member: ["projects:read", "projects:write", "stats:read"] },
  routes: [
    route("GET /v1/stats", { scope: "stats:read", answer: { open: integer() } }, () => ({ open: 3 })),
    route(
      "GET /v1/projects/{id}/summary",
      { scope: "projects:read", answer: project },
      async ({ rows, parameters }) => {
        const found = await rows.get(projects, parameters.id);
        if (!found) throw new Problem("not_found", "There is no such project.");
        return found;
      },
    ),
    route(
      "GET /v1/calendar/{year}",
      {
        scope: null,
        parameters: { year: integer({ min: 1970, max: 2999 }) },
        query: {
          kind: choice(["work", "leisure"], { default: "work" }),
          since: timestamp({ optional: true }),
          tags: list(text({ max: 5 }), { max: 2, default: [] }),
          weekends: boolean({ default: false }),
        },
        answer: { seen: json() },
      },
      ({ parameters, query, now, caller }) => ({
        seen: { ...parameters, ...query, hasNow: now > "2026", kindOfCaller: caller.kind },
      }),
    ),
    route(
      "POST /v1/mergers",
      {
        scope: "projects:write",
        input: {
          into: belongsTo(() => projects),
          name: text({ max: 10 }),
          fails: boolean({ default: false }),
        },
        answer: { total: integer(), note: text({ optional: true }) },
        status: 201,
      },
      async ({ rows, input }) => {
        const into = await rows.get(projects, input.intoId);
        await rows.update(projects, input.intoId, { issues: into!.issues + 1 });
        await rows.create(projects, { name: input.name });
        if (input.fails) throw new Problem("conflict", "They do not merge.");
        return { total: into!.issues + 1 };
      },
    ),
    route("DELETE /v1/projects/{id}/issues", { scope: "projects:write" }, async ({ rows, parameters }) => {
      await rows.update(projects, parameters.id, { issues: 0 });
    }),
    route(
      "GET /v1/totals/{dueOn}",
      {
        scope: "projects:read",
        parameters: { dueOn: date() },
        query: { price: decimal({ precision: 6, scale: 2 }) },
        answer: {
          names: list(text()),
          count: integer(),
          price: decimal({ precision: 6, scale: 2 }),
          dueOn: date(),
        },
      },
      async ({ rows, query, parameters }) => {
        const busy = { issues: { gte: 7 } };
        const found = await rows.list(projects, busy, { sort: "name", limit: 2 });
        const first = await rows.first(projects, busy, { sort: "-name" });
        const names = [...found.map(({ name }) => name), ...(first ? [first.name] : [])];
        return {
          names,
          count: await rows.count(projects, busy),
          price: query.price,
          dueOn: parameters.dueOn,
        };
      },
    ),
    route("GET /v1/news", { public: true, answer: { kind: text() } }, ({ caller }) => ({
      kind: caller.kind,
    })),
    route("POST /v1/messages", { public: true, input: { line: text({ max: 9 }) } }, () => {}),
  ],
});

onEachDatabase("routes", (database) => {
  const server = serve(database, { app: declared });

  test("a route answers with the members that it declares, under its version and without one", async () => {
    for (const path of ["/v1/stats", "/stats"]) {
      const { status, headers, body } = await server.request(path);
      deepEqual([status, body], [200, { open: 3 }]);
      equal(headers.get("content-type"), "application/json; charset=utf-8");
      ok(headers.get("ratelimit") && headers.get("x-request-id"));
    }
    const { id } = await server.create("/projects", { name: "Engine" });
    const summary = await server.request(`/v1/projects/${id}/summary`);
    deepEqual(summary.body, { name: "Engine", issues: 0 });
    const missing = await server.request("/v1/projects/project_1/summary");
    deepEqual([missing.status, missing.body.error.message], [404, "There is no such project."]);
  });

  test("HEAD, OPTIONS and other methods", async () => {
    equal((await server.request("/v1/stats", { method: "HEAD" })).text, "");
    const options = await server.request("/v1/stats", { method: "OPTIONS", key: null });
    deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
    const other = await server.request("/v1/stats", { method: "POST", body: {} });
    deepEqual([other.status, other.body.error.code], [405, "method_not_allowed"]);
  });

  test("parameters have the types that are declared", async () => {
    const since = encodeURIComponent("2026-11-21T10:30:00+01:00");
    const { body } = await server.request(`/calendar/2026?tags=a&tags=b&since=${since}&weekends=true`);
    deepEqual(body.seen, {
      ...{ year: 2026, kind: "work", since: "2026-11-21T09:30:00.000Z", tags: ["a", "b"], weekends: true },
      ...{ hasNow: true, kindOfCaller: "key" },
    });
    const refused = await server.request(
      "/calendar/12?kind=x&tags=a&tags=b&tags=c&weekends=1&other=1&since=1",
    );
    equal(refused.status, 422);
    deepEqual(
      new Set(refused.body.error.details.map((each: object) => Object.values(each).join(" "))),
      new Set([...["year min", "kind choice", "tags max", "weekends type", "other unknown", "since format"]]),
    );
    equal((await server.request("/calendar/x")).body.error.details[0].issue, "type");
    equal(
      (await server.request("/calendar/2026?kind=work&kind=work")).body.error.details[0].issue,
      "duplicate",
    );
  });

  test("what a route writes is one transaction, which a problem undoes", async () => {
    const { id } = await server.create("/projects", { name: "Whole" });
    const merge = (body: object, headers = {}) =>
      server.request("/v1/mergers", { body: { intoId: id, name: "Part", ...body }, headers });
    const issues = async () => (await server.request(`/projects/${id}`)).body.issues;
    const merged = await merge({});
    deepEqual([merged.status, merged.body], [201, { total: 1, note: null }]);
    const failed = await merge({ fails: true });
    deepEqual([failed.status, failed.body.error.code], [409, "conflict"]);
    equal(await issues(), 1);
    const invalid = await merge({ intoId: "project_x", name: "Part" });
    deepEqual(invalid.body.error.details, [{ field: "intoId", issue: "reference" }]);
    const wrong = await merge({ name: 1, more: 2 });
    deepEqual(wrong.body.error.details.length, 2);
    const once = { "idempotency-key": "merge-1" };
    const first = await merge({}, once);
    const again = await merge({}, once);
    deepEqual([first.body, again.body, again.status], [{ total: 2, note: null }, first.body, 201]);
    equal(again.headers.get("idempotent-replayed"), "true");
    equal(await issues(), 2);
    const emptied = await server.request(`/v1/projects/${id}/issues`, { method: "DELETE" });
    deepEqual([emptied.status, emptied.text], [204, ""]);
    equal(await issues(), 0);
  });

  test("a route needs its scope, and rows are those that the policies allow", async () => {
    const { id } = await server.create("/projects", { name: "Hidden" });
    const keyOf = async (scopes: string[], ownerId?: string) =>
      (await server.create("/v1/api-keys", { name: "Made", scopes, ...(ownerId && { ownerId }) })).key;
    const other = await keyOf(["projects:read"]);
    const refused = await server.request("/v1/stats", { key: other });
    deepEqual([refused.status, refused.body.error.code], [403, "insufficient_scope"]);
    match(refused.headers.get("www-authenticate")!, /scope="stats:read"/);
    equal((await server.request("/v1/stats", { key: null })).status, 401);
    const user = await server.create("/users", { name: "Bo", email: "bo@example.com" });
    const member = await keyOf(["stats:read", "projects:read", "projects:write"], user.id);
    equal((await server.request("/v1/stats", { key: member })).status, 200);
    equal((await server.request(`/v1/projects/${id}/summary`, { key: member })).status, 404);
    const body = { intoId: id, name: "Part" };
    const merged = await server.request("/v1/mergers", { key: member, body });
    deepEqual(merged.body.error.details, [{ field: "intoId", issue: "reference" }]);
  });

  test("a route lists and counts rows; decimals and dates are those of bodies", async () => {
    for (const name of ["One", "Three", "Two"]) await server.create("/projects", { name, issues: 7 });
    const { body } = await server.request("/v1/totals/2026-11-21?price=12.5");
    deepEqual(body, { names: ["One", "Three", "Two"], count: 3, price: "12.50", dueOn: "2026-11-21" });
    const refused = await server.request("/v1/totals/2026-02-30?price=1e3");
    deepEqual(refused.body.error.details, [
      { field: "dueOn", issue: "format" },
      { field: "price", issue: "format" },
    ]);
  });

  test("a repetition shows no rows that the caller may not see any more", async () => {
    const user = await server.create("/users", { name: "Cy", email: "cy@example.com" });
    const made = { name: "Made", scopes: ["projects:read", "projects:write"], ownerId: user.id };
    const { key } = await server.create("/v1/api-keys", made);
    const { id } = await server.create("/projects", { name: "Passing" }, { key });
    const headers = { "idempotency-key": "once" };
    const merge = () => server.request("/v1/mergers", { key, headers, body: { intoId: id, name: "Part" } });
    equal((await merge()).status, 201);
    equal((await merge()).status, 201);
    const { body: me } = await server.request("/v1/me");
    equal(
      (await server.request(`/projects/${id}`, { method: "PATCH", body: { ownerId: me.user.id } })).status,
      200,
    );
    equal((await merge()).status, 404);
  });

  test("a public route needs no credential", async () => {
    const page = await server.create("/v1/api-keys", { name: "Page", type: "publishable", scopes: [] });
    for (const key of [null, page.key]) {
      const news = await server.request("/v1/news", { key });
      deepEqual(news.body, { kind: "anonymous" });
      equal(news.headers.get("cache-control"), "private, no-cache");
      ok(news.headers.get("ratelimit"));
      equal((await server.request("/v1/messages", { key, body: { line: "Hi" } })).status, 204);
      const headers = { "idempotency-key": "a" };
      equal((await server.request("/v1/messages", { key, body: { line: "Hi" }, headers })).status, 400);
    }
    equal((await server.request("/v1/news")).body.kind, "key");
    equal((await server.request("/v1/news", { key: "sk_test_x" })).status, 401);
    equal((await server.request("/calendar/2026", { key: page.key })).status, 403);
  });
});
