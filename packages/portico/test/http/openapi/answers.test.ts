// What a server answers is what its description says: generated requests for every operation, and the routes that it has.

import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import type { FastifyInstance } from "fastify";
import type { App } from "../../../src/declare/app.ts";
import { loadApp } from "../../../src/runtime/config.ts";
import { randomRuns } from "../../support/random-runs.ts";
import {
  type DatabaseName,
  makeWorkspace,
  onOneDatabase,
  Portico,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";
import { catalogue } from "./catalogue.ts";
import { DescribedApi, type DescribedOperation } from "./described-api.ts";
import { prefixOf, type RandomRequest, randomRequest } from "./random-requests.ts";

/** Routes that are no API: pages, their files, and other paths of what is described. */
const undescribed = [
  /^GET \/docs(\/|$)/,
  /^GET \/graphql\/files\//,
  // Pages of the authorization server, on which people sign in and manage their account.
  /^(GET|POST) \/oauth\/(authorize|interaction|password|email|sign-up|invitation|account|grants|sessions|members)(\/|$)/,
  /^(GET|POST) \/oauth\/(passkeys|passkey\.js|logo|logout|device)(\/|$)/,
  // Preflight requests, which the authorization server handles itself.
  /^OPTIONS \/oauth\//,
  // Metadata at the paths that RFC 8414 defines for an issuer with a path.
  /^(GET|OPTIONS) \/\.well-known\/[\w-]+\/oauth$/,
  // MCP has a description of its own.
  /^(GET|POST|DELETE) \/mcp$/,
  /^GET \/\.well-known\/oauth-protected-resource\/mcp$/,
];

/** Requests that would end the credential, or that wait for another server. */
const unsent = new Set(["testWebhookEndpoint"]);

function suite(name: string, load: () => Promise<App>): void {
  onOneDatabase(name, (database: DatabaseName) => {
    const registered = new Set<string>();
    let workspace: Workspace;
    let portico: Portico;
    let api: DescribedApi;

    const observe = (message: unknown): void => {
      const { fastify } = message as { readonly fastify: FastifyInstance };
      fastify.addHook("onRoute", ({ method, url }) => {
        for (const each of [method].flat()) if (each !== "HEAD") registered.add(`${each} ${url}`);
      });
    };

    before(async () => {
      workspace = await makeWorkspace(database);
      subscribe("fastify.initialization", observe);
      portico = await Portico.startApp(workspace, await load());
      unsubscribe("fastify.initialization", observe);
      api = new DescribedApi(await (await fetch(`${portico.url}/openapi.json`)).json());
    });
    after(async () => {
      await portico?.stop();
      await workspace?.remove();
    });

    test("every route is described, and every description is a route", () => {
      const routes = [...registered].filter((route) => !undescribed.some((pattern) => pattern.test(route)));
      const described = api.operations.map(({ method, path }) => `${method} ${path}`);
      // Paths without a version are those of the current one, and exports and imports have one route for all collections.
      const isSame = (route: string, operation: string): boolean =>
        new RegExp(`^${route.replace(/^(\w+) /, "$1 (?:/v\\d+)?").replaceAll(/:\w+/g, "[^/]+")}$`).test(
          operation,
        );
      const missing = routes.filter((route) => !described.some((operation) => isSame(route, operation)));
      const added = described.filter((operation) => !routes.some((route) => isSame(route, operation)));
      assert.deepEqual({ missing, added }, { missing: [], added: [] });
      assert.ok(described.length > 60);
    });

    test("every response is one that the description lists", async () => {
      const ids = new Map<string, string[]>();
      const statuses = new Map<string, Set<number>>();
      const send = async (described: DescribedOperation, request: RandomRequest): Promise<void> => {
        const { path, method, headers, body } = request;
        const response = await fetch(portico.url + path, {
          ...{ method, redirect: "manual", headers: { authorization: `Bearer ${portico.key}`, ...headers } },
          ...(body !== undefined && { body }),
        });
        const text = await response.text();
        api.assertDescribed(described, response, text, request.selectsFields);
        const known = statuses.get(described.operation.operationId) ?? new Set();
        statuses.set(described.operation.operationId, known.add(response.status));
        if (response.status !== 201) return;
        const { id } = JSON.parse(text);
        const prefix = prefixOf(id);
        ids.set(prefix, [...(ids.get(prefix) ?? []).slice(-5), id]);
      };
      const operations = api.operations.filter(
        ({ path, operation }) => /^\/v\d/.test(path) && !unsent.has(operation.operationId) && !isSigned(path),
      );
      // Rows to read, change and refer to.
      const creating = operations.filter(({ method }) => method === "POST");
      const several = [...creating, ...creating, ...operations];
      const runs = randomRuns(4, 2);
      await fc.assert(
        fc.asyncProperty(fc.gen(), async (gen) => {
          const draw = <T>(values: readonly T[]): T => values[gen(fc.nat, { max: values.length - 1 })]!;
          for (const described of several) await send(described, randomRequest(api, described, ids, draw));
        }),
        { numRuns: runs, endOnFailure: true },
      );
      const all = [...statuses.values()].flatMap((each) => [...each]);
      for (const status of [200, 201, 204, 400, 404, 412, 422])
        assert.ok(all.includes(status), `no ${status}`);
      const succeeded = [...statuses].filter(([, each]) => [...each].some((status) => status < 300));
      assert.ok(
        succeeded.length > operations.length / 5,
        `${succeeded.length} of ${operations.length} succeeded`,
      );
    });

    test("so is every response to other bodies, headers, parameters and credentials", async () => {
      const authorization = `Bearer ${portico.key}`;
      for (const described of api.operations.filter(({ path }) => /^\/v\d/.test(path) && !isSigned(path))) {
        const { method, operation, parameters } = described;
        if (ending.has(operation.operationId)) continue;
        const path = described.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          String(parameters.find((each) => each.in === "path" && each.name === name)?.example ?? "x"),
        );
        const send = async (query: string, init: RequestInit): Promise<void> => {
          const response = await fetch(portico.url + path + query, { method, redirect: "manual", ...init });
          api.assertDescribed(described, response, await response.text(), true);
        };
        for (const headers of oddHeaders) await send("", { headers: { authorization, ...headers } });
        for (const headers of oddCredentials) await send("", { headers });
        for (const query of oddQueries) await send(query, { headers: { authorization } });
        if (method === "GET") continue;
        for (const [type, body] of oddBodies)
          await send("", { body, headers: { authorization, ...(type && { "content-type": type }) } });
        await send("", { body: "x", headers: { authorization, "content-encoding": "gzip" } });
      }
    });

    test("so is every response of GraphQL, the authorization server and the server itself", async () => {
      const credentials: Record<string, string>[] = [
        {},
        { authorization: `Bearer ${portico.key}` },
        { accept: "image/png" },
      ];
      for (const described of api.operations.filter(({ path }) => !/^\/v\d/.test(path))) {
        const { method, path, operation } = described;
        const [type] = Object.keys(operation.requestBody?.content ?? {});
        const queries = ["", "?query=%7Bme%7Bid%7D%7D", "?query=%7Bx%7D", "?access_token=x", "?x=%00"];
        const requests = type
          ? (type === "application/json" ? graphqlBodies : forms).map((body) => ["", body] as const)
          : queries.map((query) => [query, null] as const);
        for (const [query, body] of requests)
          for (const credential of credentials) {
            const headers = { ...credential, ...(type && { "content-type": type }) };
            const response = await fetch(portico.url + path + query, { method, headers, body });
            api.assertDescribed(described, response, await response.text());
          }
      }
    });
  });
}

/** Requests that would delete what the others need. */
const ending = new Set(["deleteOwnerApiKeys", "deleteTenantApiKeys", "testWebhookEndpoint"]);
const oddHeaders: readonly Record<string, string>[] = [
  ...[{ "if-match": "x" }, { "if-none-match": '"' }, { "idempotency-key": "" }, { range: "bytes=0-1" }],
  ...[{ accept: "text/xml" }, { accept: "application/json;q=0" }, { origin: "https://other.example" }],
];
const oddCredentials: readonly Record<string, string>[] = [
  ...[{}, { authorization: "Bearer x" }, { authorization: "Basic eDp5" }, { "x-api-key": "x" }],
  { authorization: `Bearer sk_live_${"a".repeat(43)}` },
];
const oddQueries = ["?access_token=x", "?x=%00", "?limit=1&limit=2", "?cursor=x", "?deleted=true", "?q=%ff"];
const oddBodies: readonly (readonly [type: string, body: string])[] = [
  ["text/plain", "x"],
  ["", "x"],
  ["text/csv", "a,b"],
  ["multipart/form-data", "x"],
  ["application/json", "{"],
  ["application/json", "null"],
  ["application/json", "[".repeat(5_000)],
  ["application/json", '{"__proto__":{}}'],
  ["application/json", " ".repeat(1_100_000)],
];

const graphqlBodies = [
  ...["", "{", "[]", '{"query":5}', '{"query":"{ x }"}', '{"query":"{ me { id } }"}'],
  '{"query":"mutation { revokeApiKey(id: \\"x\\") { id } }"}',
];
const forms = [
  ...[
    "",
    "grant_type=x&client_id=y",
    "token=a&client_id=x&client_secret=y",
    "client_id=%00",
    "token=a&token=b",
  ],
  ...["grant_type=authorization_code&code=x&client_id=y", "x".repeat(70_000)],
];

/** Signed URLs, which no caller makes up. */
function isSigned(path: string): boolean {
  return path === "/v1/files/{id}" || path === "/v1/uploads/{id}";
}

describe("the description of an API", () => {
  suite("the service", () => loadApp(projectFolder));
  suite("an app that uses everything", async () => catalogue);
});
