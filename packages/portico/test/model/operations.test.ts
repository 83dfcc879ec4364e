// The operations of a model as data, and the routes that REST registers from them.

import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import Fastify from "fastify";
import { app } from "../../src/declare/app.ts";
import { belongsTo, choice, text, timestamp } from "../../src/declare/field.ts";
import { range } from "../../src/declare/filter.ts";
import { resource } from "../../src/declare/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { catalogue } from "../../src/errors.ts";
import { exportableResources } from "../../src/exports/operation.ts";
import { importableResources } from "../../src/imports/importable-resources.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Model } from "../../src/model/model.ts";
import { queryParameter } from "../../src/model/operation-parameters.ts";
import type { ModuleOperation, Operation, Report } from "../../src/model/operations.ts";
import { servedVersions } from "../../src/model/served-versions.ts";
import { registerRest } from "../../src/rest/routes.ts";
import { assemble } from "../../src/runtime/compose.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, projectFolder, type Workspace } from "../support/server.ts";

const shelves = resource("shelf", {
  plural: "shelves",
  fields: { name: text({ max: 50 }) },
  operations: ["list", "get"],
});
const members = resource("member", { fields: { name: text({ max: 50 }) }, operations: ["get"] });
const books = resource("book", {
  parent: shelves,
  fields: {
    title: text({ min: 1, max: 200 }),
    state: choice(["in", "out"], { default: "in" }),
    dueAt: timestamp({ optional: true, readOnly: true }),
    donor: belongsTo(() => members, { optional: true }),
  },
  filter: ["state", range("dueAt")],
  sort: ["title"],
  search: ["title"],
  nestedUnder: ["donor"],
  operations: ["list", "create", "get", "replace", "update", "delete"],
  actions: {
    renewals: { input: { until: timestamp() }, verb: "renew", run: async ({ current }) => current },
    "late-fees": { input: {}, run: async ({ current }) => current },
  },
});
const hidden = resource("secret", { fields: { name: text({ max: 50 }) }, exposed: false });
const report: Report = {
  id: "getBookHistory",
  resource: "book",
  segment: "history",
  parameters: [queryParameter("from", { type: "string", format: "date-time" }, "The start.")],
  output: { type: "object" },
};
const library = buildModel(
  app({ name: "Library", version: "v2", resources: [shelves, members, books, hidden] }),
  [],
  {
    reports: [report],
  },
);

function operation(id: string): Operation | ModuleOperation {
  const operation = library.operations.find((each) => each.id === id);
  assert.ok(operation, `there is no operation ${id}`);
  return operation;
}

test("the operations of a small app", () => {
  assert.deepEqual(
    library.operations.map(
      ({ id, kind, method, path, scope }) => `${id}: ${kind} ${method} ${path} ${scope}`,
    ),
    [
      "listShelves: list GET /shelves shelves:read",
      "getShelf: get GET /shelves/{id} shelves:read",
      "getMember: get GET /members/{id} members:read",
      "listBooks: list GET /shelves/{parentId}/books books:read",
      "getBook: get GET /books/{id} books:read",
      "createBook: create POST /shelves/{parentId}/books books:write",
      "replaceBook: replace PUT /books/{id} books:write",
      "updateBook: update PATCH /books/{id} books:write",
      "deleteBook: delete DELETE /books/{id} books:write",
      "renewBook: action POST /books/{id}/renewals books:write",
      "createBookLateFees: action POST /books/{id}/late-fees books:write",
      "listDonorBooks: list GET /members/{id}/books books:read",
      "deleteDonorBooks: deleteAll DELETE /members/{id}/books books:write",
      "getBookHistory: report GET /books/{id}/history books:read",
    ],
  );
  assert.ok(library.operations.every(({ prefixes }) => prefixes.join() === ",/v2"));
});

test("the parameters of a list: paging, sort, search and filters", () => {
  const { parameters } = operation("listBooks");
  assert.deepEqual(
    parameters.map(({ name, in: location, maxCount }) => `${location} ${name} ${maxCount}`),
    [
      ...["path parentId 1", "query sort 1", "query fields 1", "query limit 1", "query cursor 1"],
      ...["query direction 1", "query q 1"],
      ...["query state 50", "query state[in] 1", "query state[ne] 50", "query state[isNull] 1"],
      ...["query dueAt 50", "query dueAt[in] 1", "query dueAt[ne] 50", "query dueAt[isNull] 1"],
      ...["query dueAt[gte] 1", "query dueAt[gt] 1", "query dueAt[lte] 1", "query dueAt[lt] 1"],
    ],
  );
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  assert.deepEqual(schemas.sort, {
    type: "string",
    pattern: "^-?(createdAt|title)(,-?(createdAt|title)){0,2}$",
    default: "-createdAt",
  });
  assert.deepEqual(schemas.limit, { type: "integer", minimum: 1, maximum: 100, default: 20 });
  assert.deepEqual(schemas.state, { type: "string", enum: ["in", "out"] });
  assert.deepEqual(schemas["dueAt[gte]"], { type: "string", format: "date-time" });
});

test("the example of a path in fields exists", () => {
  const descriptions = ["getBook", "getShelf"].map(
    (id) => operation(id).parameters.find(({ name }) => name === "fields")?.description,
  );
  const names = "Names of the fields to return, separated by commas";
  assert.deepEqual(descriptions, [`${names}; shelf.name is a field of another row.`, `${names}.`]);
});

test("the parameters of the other operations", () => {
  const names = Object.fromEntries(
    library.operations.map(({ id, parameters }) => [id, parameters.map(({ name }) => name).join(" ")]),
  );
  assert.equal(names.getBook, "id fields If-Match If-None-Match");
  assert.equal(names.createBook, "parentId");
  assert.equal(names.updateBook, "id If-Match If-None-Match");
  assert.equal(names.deleteBook, "id If-Match If-None-Match");
  assert.equal(names.renewBook, "id");
  assert.equal(names.deleteDonorBooks, "id");
  assert.equal(names.getBookHistory, "id from");
});

test("input and output are the schemas of bodies", () => {
  const { input, output } = operation("createBook");
  assert.deepEqual(Object.keys(input?.properties as object), ["title", "state", "donorId"]);
  assert.deepEqual(input?.required, ["title"]);
  const row = ["id", "shelfId", "title", "state", "dueAt", "donorId", "createdAt", "updatedAt"];
  assert.deepEqual(Object.keys(output?.properties as object), row);
  assert.deepEqual(output?.required, row);
  assert.deepEqual(Object.keys(operation("listBooks").output?.properties as object), ["data", "pagination"]);
  assert.deepEqual(Object.keys(operation("renewBook").input?.properties as object), ["until"]);
  assert.equal(operation("deleteBook").output, undefined);
});

test("errors are codes of the catalogue, each once, and fit the kind of the operation", () => {
  for (const { errors } of library.operations) {
    assert.equal(new Set(errors).size, errors.length);
    for (const code of errors) assert.ok(code in catalogue, code);
  }
  const has = (id: string, code: keyof typeof catalogue): boolean => operation(id).errors.includes(code);
  assert.ok(has("listBooks", "invalid_cursor") && !has("getBook", "invalid_cursor"));
  assert.ok(has("updateBook", "precondition_failed") && !has("createBook", "precondition_failed"));
  assert.ok(has("createBook", "conflict") && !has("getBook", "conflict"));
  assert.ok(has("getBook", "not_found") && !has("listShelves", "not_found"));
});

test("forbidden is an error of the writes that a policy, hook or action can refuse", () => {
  const refuse = (): never => {
    throw new Error("refused");
  };
  const fields = { title: text({ max: 10 }) };
  const declared = [
    resource("plain", { fields }),
    resource("limited", { fields, policy: () => ({}) }),
    resource("hooked", { fields, hooks: { before: { update: refuse }, after: { delete: refuse } } }),
  ];
  const { operations } = buildModel(app({ name: "Refusing", resources: declared }), []);
  const forbidden = operations.flatMap(({ id, errors }) => (errors.includes("forbidden") ? [id] : []));
  assert.deepEqual(forbidden, [
    ...["createLimited", "replaceLimited", "updateLimited"],
    ...["replaceHooked", "updateHooked", "deleteHooked"],
  ]);
  assert.ok(["renewBook", "createBookLateFees"].every((id) => operation(id).errors.includes("forbidden")));
});

test("operations are frozen, and their ids are unique", () => {
  assert.ok(Object.isFrozen(library.operations) && library.operations.every(Object.isFrozen));
  assert.equal(new Set(library.operations.map(({ id }) => id)).size, library.operations.length);
  const twice = resource("post", {
    fields: { title: text({ max: 10 }) },
    actions: { copies: { input: {}, verb: "replace", run: async ({ current }) => current } },
  });
  const { operations } = buildModel(app({ name: "Twice", resources: [twice] }), []);
  assert.deepEqual(
    operations.filter(({ path }) => path.startsWith("/posts/{id}")).map(({ id }) => id),
    ["getPost", "replacePost", "updatePost", "deletePost", "createPostCopies"],
  );
});

describe("the routes of REST are the operations of the model", () => {
  let workspace: Workspace;
  let store: Store;

  before(async () => {
    workspace = await makeWorkspace("sqlite");
    store = await openStore(workspace.databaseUrl);
  });
  after(async () => {
    await store.database.close();
    await workspace.remove();
  });

  const fixtures = resolve(import.meta.dirname, "../fixtures");
  const configs = globSync("*/portico.config.ts", { cwd: fixtures }).sort();
  const projects = [projectFolder, ...configs.map((file) => resolve(fixtures, dirname(file)))];
  for (const folder of projects)
    test(folder.slice(projectFolder.length) || "the service", async () => {
      const { app, model } = await assemble({ folder, environment: {} });
      const current = servedVersions(model).find(({ prefix }) => prefix === `/${model.version}`)!;
      const exported = exportableResources(current, app).map(({ segment }) => segment);
      const imported = importableResources(current, app).keys().toArray();
      const routesOf = (operations: readonly Pick<Operation, "method" | "path" | "prefixes">[]): string[] =>
        operations.flatMap(({ method, path, prefixes }) =>
          prefixes.map((prefix) => `${method} ${prefix}${path}`),
        );
      const ofModules = model.operations.filter(({ kind }) => kind === "module");
      const { prefix } = current;
      assert.deepEqual(routesOf(ofModules), [
        ...[`GET ${prefix}/events`, `GET ${prefix}/events/{id}`],
        ...exported.map((segment) => `GET ${prefix}/exports/${segment}`),
        `GET ${prefix}/exports/events`,
        ...[`POST ${prefix}/webhook-endpoints/{id}/tests`, `POST ${prefix}/webhook-endpoints/{id}/replays`],
        ...imported.map((segment) => `POST ${prefix}/imports/${segment}`),
        ...(model.resources.some(({ files }) => files.length > 0) ? [`POST ${prefix}/uploads`] : []),
        ...[`GET ${prefix}/grants`, `DELETE ${prefix}/grants/{id}`],
        ...[`GET ${prefix}/me`, `PATCH ${prefix}/me`],
        ...routesOf(model.routes),
      ]);
      const all = [...model.operations, ...model.olderVersions.flatMap(({ operations }) => operations)];
      const listed = routesOf(all.filter(({ kind }) => kind !== "module"));
      assert.ok(listed.length > 20);
      assert.deepEqual(registeredRoutes(model, store).sort(), listed.sort());
      assert.ok(listed.includes("POST /v1/api-keys/{id}/rotations"));
      assert.ok(listed.includes("DELETE /v1/users/{id}/api-keys"));
      assert.ok(listed.includes("GET /v1/api-keys/{id}/usage"));
    });
});

/** `GET /v1/posts/{id}`; without the routes for HEAD that Fastify adds. */
function registeredRoutes(model: Model, store: Store): string[] {
  const server = Fastify();
  const routes: string[] = [];
  server.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat())
      if (each !== "HEAD") routes.push(`${each} ${url.replace(/:(\w+)/g, "{$1}")}`);
  });
  registerRest(server, {
    engine: new Engine(model, store),
    reports: {},
    basePath: "",
    callerOf: () => assert.fail("no request is sent"),
    fileUrl: () => assert.fail("no request is sent"),
    chargeResponse: () => assert.fail("no request is sent"),
    idempotentRequests: { run: () => assert.fail("no request is sent") },
  });
  return routes;
}
