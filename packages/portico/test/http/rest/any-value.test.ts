// Every value of every request has a type and a bound: for any value in a member, a parameter or a header of any
// route, the response is not a 500, a refusal has the one error shape, and the server keeps running. The routes,
// members and parameters come from the model, so that none is forgotten.

import assert from "node:assert/strict";
import { Agent, request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { catalogue } from "../../../src/errors.ts";
import type { Model, ResourceModel } from "../../../src/model/model.ts";
import { assemble } from "../../../src/runtime/compose.ts";
import { headerNames, headerTexts, jsonTexts, queryTexts } from "../../support/odd-values.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { type DatabaseName, onEachDatabase, projectFolder } from "../../support/server.ts";

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

interface Received {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const concurrency = 8;
/** Requests per test; 0 sends every combination, which takes three minutes for each database. */
const maxRequests = randomRuns(1_000, 500, "PORTICO_TEST_VALUES");

/** The service, and a project with fields of all other kinds. */
const projects = {
  service: projectFolder,
  workshop: resolve(import.meta.dirname, "../../fixtures/workshop"),
};

for (const [project, cwd] of Object.entries(projects))
  onEachDatabase(`any value anywhere in the ${project}`, (database) => testValues(database, cwd));

function testValues(database: DatabaseName, cwd: string): void {
  // The server trusts every forwarding header.
  const server = serve(database, {
    cwd,
    env: { PORTICO_TRUSTED_PROXIES: "127.0.0.0/8", PORTICO_CORS_ORIGINS: "https://a.example.com" },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let model: Model;
  /** An existing id of each resource, and one id that does not exist. */
  const ids = new Map<string, string>();

  before(async () => {
    model = (await assemble({ folder: cwd, environment: {} })).model;
    for (const { segment, parent, name } of servedResources()) {
      const path = parent ? undefined : pathsOf(segment, "");
      const existingId = path === undefined ? undefined : (await server.request(path)).body?.data?.[0]?.id;
      ids.set(name, existingId ?? `${name}_00000000000000000000000000`);
    }
  });
  after(() => agent.destroy());

  function servedResources(): readonly ResourceModel[] {
    return model.resources.filter(({ isExposed }) => isExposed);
  }

  function pathsOf(segment: string, rest: string): string {
    return `/v1/${segment}${rest}`;
  }

  function collectionOf({ segment, parent }: ResourceModel): string {
    const target = parent?.reference?.target;
    return target ? pathsOf(target.segment, `/${ids.get(target.name)}/${segment}`) : pathsOf(segment, "");
  }

  /** Every path of the model, and whether it is read. */
  function readPaths(): string[] {
    return servedResources().flatMap((resource) => {
      const item = pathsOf(resource.segment, `/${ids.get(resource.name)}`);
      const nestedPaths = resource.nestedUnder.map((by) => {
        const parentSegment = by === "tenant" ? "tenants" : by.reference!.target.segment;
        const id = by === "tenant" ? "tenant_00000000000000000000000000" : ids.get(by.reference!.target.name);
        return pathsOf(parentSegment, `/${id}/${resource.segment}`);
      });
      return [collectionOf(resource), item, ...nestedPaths];
    });
  }

  function send({ method, target, headers = {}, body }: Sent): Promise<Received> {
    const { hostname, port } = new URL(server.url);
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          ...{ hostname, port, method, path: target, agent, setDefaultHeaders: true },
          headers: {
            authorization: `Bearer ${server.portico.key}`,
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              type: String(response.headers["content-type"] ?? ""),
              text,
            }),
          );
          response.on("error", reject);
        },
      );
      // A WebSocket opens if all its headers are valid, which is allowed.
      sent.on("upgrade", (_response, socket) => {
        socket.destroy();
        resolve({ status: 101, type: "", text: "" });
      });
      sent.on("error", reject).end(body);
    });
  }

  /** Sends all requests, some in parallel, and checks each response against the rules. */
  async function sendAll(requests: readonly Sent[]): Promise<void> {
    const queue = sampleOf(requests).values();
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (const request of queue) {
          const requestText = `${request.method} ${request.target.slice(0, 200)} ${JSON.stringify(request.headers ?? {}).slice(0, 200)} ${request.body?.slice(0, 200)}`;
          const received = await send(request).catch((error) => assert.fail(`${requestText}: ${error}`));
          assertSound(received, requestText);
        }
      }),
    );
    assert.equal((await server.request("/readyz")).status, 200);
    assert.doesNotMatch(server.portico.output, /"level":50/);
  }

  function assertSound({ status, type, text }: Received, requestText: string): void {
    assert.ok(status < 500, `${requestText}: ${status} ${text}`);
    if (status < 400 || text === "" || !type.startsWith("application/json")) return;
    const { error, errors } = JSON.parse(text);
    const code = typeof error === "object" ? error.code : errors?.[0]?.extensions.code;
    // Error responses of the OAuth paths have the shape of RFC 6749.
    if (typeof error === "string") return;
    assert.ok(code in catalogue, `${requestText}: ${text}`);
    if (error) assert.equal(catalogue[code as keyof typeof catalogue][0], status, `${requestText}: ${text}`);
  }

  test("any value of any member of any body has a valid response", async () => {
    const requests: Sent[] = [];
    for (const resource of servedResources()) {
      const item = pathsOf(resource.segment, `/${resource.name}_00000000000000000000000000`);
      const targets: (readonly [method: string, target: string])[] = [
        ["POST", collectionOf(resource)],
        ["PUT", item],
        ["PATCH", item],
        ...[...resource.actions.keys()].map((segment) => ["POST", `${item}/${segment}`] as const),
      ];
      const names = [...resource.attribute.keys(), "unknown", "__proto__", "constructor"];
      for (const [method, target] of targets) {
        for (const value of jsonTexts) {
          requests.push({ method, target, body: value });
          for (const name of names)
            requests.push({ method, target, body: `{${JSON.stringify(name)}:${value}}` });
        }
      }
    }
    await sendAll(requests);
  });

  test("any value of any query parameter has a valid response", async () => {
    const requests: Sent[] = [];
    for (const resource of servedResources()) {
      const names = [
        ...["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q", "from", "to", "step"],
        ...[...resource.filters.keys()].flatMap((name) => [
          name,
          ...["gte", "gt", "lte", "lt", "in", ""].map((operator) => `${name}[${operator}]`),
        ]),
        ...["unknown", "__proto__", "", "%00", "%zz"],
      ];
      for (const name of names)
        for (const value of queryTexts)
          requests.push({ method: "GET", target: `${collectionOf(resource)}?${name}=${value}` });
    }
    const others = ["/v1/grants", `/v1/api-keys/${ids.get("apiKey")}/usage`, "/healthz", "/readyz"];
    for (const path of [...others, ...readPaths()])
      for (const name of ["fields", "limit", "cursor", "from", "to", "step", "unknown"])
        for (const value of queryTexts) requests.push({ method: "GET", target: `${path}?${name}=${value}` });
    await sendAll(requests);
  });

  test("any value of any part of a path has a valid response", async () => {
    const paths = [...readPaths(), "/v1/grants/x", "/v1/api-keys/x/usage", "/graphql/files/x"];
    const requests = paths.flatMap((path) => {
      const parts = path.split("/");
      return parts.flatMap((_, index) =>
        queryTexts.flatMap((value) =>
          ["GET", "DELETE"].map((method) => ({
            method,
            target: parts
              .with(index, value.slice(0, 2_000))
              .join("/")
              .replace(/^(?!\/)/, "/"),
          })),
        ),
      );
    });
    // Deletes of existing rows would remove them.
    const existing = new Set(ids.values());
    await sendAll(
      requests.filter(
        ({ method, target }) => method === "GET" || ![...existing].some((id) => target.endsWith(id)),
      ),
    );
  });

  // The remaining paths are the same in any project.
  if (cwd !== projectFolder) return;

  test("any value of any header, sent once or twice, has a valid response", async () => {
    const query = JSON.stringify({ query: "{ __typename }" });
    const kinds: readonly Sent[] = [
      { method: "GET", target: "/v1/posts?limit=1" },
      { method: "GET", target: `/v1/posts/${ids.get("post")}` },
      { method: "POST", target: "/v1/posts", body: "{}" },
      { method: "PATCH", target: `/v1/posts/${ids.get("post")}`, body: "{}" },
      { method: "GET", target: `/v1/api-keys/${ids.get("apiKey")}/usage` },
      { method: "GET", target: "/v1/grants" },
      { method: "POST", target: "/graphql", body: query },
      { method: "GET", target: "/graphql?query=%7B__typename%7D" },
      { method: "GET", target: "/graphql" },
      { method: "GET", target: "/graphql/files/none.js" },
      { method: "GET", target: "/healthz" },
      { method: "OPTIONS", target: "/v1/posts" },
      { method: "GET", target: "/oauth/.well-known/openid-configuration" },
    ];
    const requests = kinds.flatMap((kind) =>
      headerNames.flatMap((name) =>
        headerTexts.flatMap((value) => {
          // Values that Node sends unchanged; headers cannot contain other characters.
          const sent = Buffer.from(value, "latin1").toString("latin1");
          // Another suite tests two Host headers.
          const values = name === "host" ? [sent || "a"] : [sent, [sent, "b"]];
          return values.map((each) => ({ ...kind, headers: { ...kind.headers, [name]: each } }));
        }),
      ),
    );
    await sendAll(requests.filter(({ headers }) => isSendable(headers)));
  });

  test("any value of any member of a GraphQL request, in a body or in a query, has a valid response", async () => {
    const requests: Sent[] = [];
    const members = ["query", "operationName", "variables", "extensions", "unknown", "__proto__"];
    const inner = ["persistedQuery", "cost", "lastEventId", "unknown"];
    for (const value of jsonTexts) {
      requests.push({ method: "POST", target: "/graphql", body: value });
      for (const name of members) {
        const body = `{"query":"query Q($v: String) { posts(limit: 1) { id } post(id: $v) { id } }",${JSON.stringify(name)}:${value}}`;
        requests.push({ method: "POST", target: "/graphql", body });
      }
      for (const name of inner)
        requests.push({
          method: "POST",
          target: "/graphql",
          body: `{"query":"{ __typename }","extensions":{"${name}":${value}}}`,
        });
      for (const name of ["version", "sha256Hash"])
        requests.push({
          method: "POST",
          target: "/graphql",
          body: `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x","${name}":${value}}}}`,
        });
      if (value.length < 4_000)
        for (const name of ["variables", "extensions"])
          requests.push({
            method: "GET",
            target: `/graphql?query=%7B__typename%7D&${name}=${encodeURIComponent(value)}`,
          });
    }
    for (const value of queryTexts)
      for (const name of members) {
        requests.push({ method: "GET", target: `/graphql?${name}=${value}` });
        requests.push({
          method: "GET",
          target: `/graphql?query=%7B__typename%7D&${name}=${value}&${name}=1`,
        });
      }
    await sendAll(requests);
  });
}

/** Values that Node's client can send: it rejects control characters itself. */
function isSendable(headers: OutgoingHttpHeaders | undefined): boolean {
  const values = Object.values(headers ?? {}).flat();
  return values.every((value) => !/(?!\t)\p{Cc}/u.test(String(value)));
}

/** All of them, or a random sample if there are too many for a test run. */
function sampleOf(requests: readonly Sent[]): readonly Sent[] {
  if (maxRequests === 0 || requests.length <= maxRequests) return requests;
  const step = requests.length / maxRequests;
  return Array.from(
    { length: maxRequests },
    (_, index) => requests[Math.floor((index + Math.random()) * step)]!,
  );
}
