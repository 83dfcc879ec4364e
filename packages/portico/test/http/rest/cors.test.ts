// CORS (Fetch, section 3.2): pages of which other origins may call the API and the authorization server from a
// browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  obtainCode,
  obtainTokens,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import {
  type Answer,
  type Environment,
  makeWorkspace,
  onOneDatabase,
  Portico,
} from "../../support/server.ts";

const page = "https://console.example.com";
const otherPage = "http://127.0.0.1:8080";
const env = { PORTICO_CORS_ORIGINS: `${page}, ${otherPage}` };
/** The origin of the redirect URI of the tests' clients. */
const application = new URL(callback).origin;

const preflightHeaders = (method: string, headers = "authorization"): Record<string, string> => ({
  "access-control-request-method": method,
  "access-control-request-headers": headers,
});

/** The CORS headers of a response, without `Vary`. */
function corsHeadersOf({ headers }: Pick<Answer, "headers">): string[] {
  return [...headers.keys()].filter((name) => name.startsWith("access-control-"));
}

function listOf({ headers }: Pick<Answer, "headers">, name: string): string[] {
  return (headers.get(name) ?? "").toLowerCase().split(/\s*,\s*/);
}

onOneDatabase("cors", (database) => {
  const server = serve(database, { env });
  const from = (origin: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    origin,
    ...more,
  });

  test("a page of an allowed origin can read the response and the headers it needs", async () => {
    for (const origin of [page, otherPage]) {
      const answer = await server.request("/posts?limit=1", { headers: from(origin) });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("access-control-allow-origin"), origin);
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
      assert.deepEqual(listOf(answer, "vary"), ["origin"]);
      const exposed = listOf(answer, "access-control-expose-headers");
      for (const name of ["link", "ratelimit", "ratelimit-policy", "x-request-id"]) {
        assert.ok(exposed.includes(name), name);
        assert.ok(answer.headers.has(name), name);
      }
      for (const name of ["etag", "location", "retry-after", "www-authenticate"])
        assert.ok(exposed.includes(name), name);
    }
  });

  test("it can also read errors from every stage", async () => {
    const refusals: readonly (readonly [number, Parameters<typeof server.request>])[] = [
      [401, ["/posts", { key: null }]],
      [401, ["/posts", { key: "sk_test_nobody" }]],
      [400, ["/posts?api_key=x", {}]],
      [404, ["/nothing", {}]],
      [404, ["/posts/post_00000000000000000000000000", {}]],
      [405, ["/posts", { method: "PATCH", body: {} }]],
      [406, ["/posts", { headers: { accept: "image/png" } }]],
      [422, ["/posts", { body: { colour: "red" } }]],
    ];
    for (const [status, [path, options]] of refusals) {
      const answer = await server.request(path, { ...options, headers: from(page, options?.headers) });
      assert.equal(answer.status, status, path);
      assert.equal(answer.headers.get("access-control-allow-origin"), page, `${status} ${path}`);
    }
  });

  test("a page of another origin, however similar, gets no CORS headers", async () => {
    for (const origin of [
      "https://evil.example",
      `${page}.evil.example`,
      `${page}:444`,
      "http://console.example.com",
      "https://CONSOLE.example.com",
      `${page}, ${otherPage}`,
      "null",
      "",
    ]) {
      for (const headers of [from(origin), from(origin, preflightHeaders("GET"))]) {
        const method = headers["access-control-request-method"] ? "OPTIONS" : "GET";
        const answer = await server.request("/posts", { method, headers });
        assert.equal(answer.status, method === "GET" ? 200 : 204);
        assert.deepEqual(corsHeadersOf(answer), [], origin);
        assert.deepEqual(listOf(answer, "vary"), ["origin"]);
      }
    }
  });

  test("a preflight request is answered without credentials, with the methods of the path", async () => {
    const methods = {
      "/posts": "GET, HEAD, POST",
      "/v1/posts/some-post": "GET, HEAD, PUT, PATCH, DELETE",
      "/graphql": "GET, HEAD, POST",
    };
    for (const [path, expected] of Object.entries(methods)) {
      const headers = from(page, preflightHeaders("POST", "authorization,content-type"));
      const answer = await server.request(path, { method: "OPTIONS", key: null, headers });
      assert.deepEqual([answer.status, answer.text], [204, ""]);
      assert.equal(answer.headers.get("access-control-allow-origin"), page);
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
      assert.equal(answer.headers.get("access-control-max-age"), "3600");
      assert.deepEqual(listOf(answer, "vary"), ["origin"]);
      const allowed = answer.headers.get("access-control-allow-methods")?.split(", ").sort();
      assert.deepEqual(allowed, expected.split(", ").sort(), path);
      const sendable = listOf(answer, "access-control-allow-headers");
      const needed = ["authorization", "content-type", "if-match", "if-none-match", "last-event-id"];
      for (const name of needed) assert.ok(sendable.includes(name), name);
    }
  });

  test("an OPTIONS request that asks for no method is not a preflight", async () => {
    const answer = await server.request("/posts", { method: "OPTIONS", headers: from(page) });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("access-control-allow-methods"), null);
    assert.ok(answer.headers.get("allow"));
  });

  test("a preflight for a path that does not exist is 404", async () => {
    const headers = from(page, preflightHeaders("GET"));
    const answer = await server.request("/nothing", { method: "OPTIONS", headers });
    assert.equal(answer.status, 404);
    assert.equal(answer.headers.get("access-control-allow-methods"), null);
  });

  test("a request without Origin gets no CORS headers", async () => {
    for (const path of ["/posts", "/graphql", "/nothing"]) {
      const answer = await server.request(path);
      assert.deepEqual(corsHeadersOf(answer), [], path);
      assert.doesNotMatch(answer.headers.get("vary") ?? "", /origin/i);
    }
  });

  test("GraphQL responses and event streams are readable, and also vary with Accept", async () => {
    const body = { query: "{ posts(first: 1) { edges { node { id } } } }" };
    const answer = await server.request("/graphql", { headers: from(page), body });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get("access-control-allow-origin"), page);
    assert.deepEqual(listOf(answer, "vary").sort(), ["accept", "origin"]);
    const response = await fetch(`${server.url}/graphql`, {
      method: "POST",
      headers: {
        ...from(page, { accept: "text/event-stream", "content-type": "application/json" }),
        authorization: `Bearer ${server.portico.key}`,
      },
      body: JSON.stringify(body),
    });
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.equal(response.headers.get("access-control-allow-origin"), page);
    assert.match(await response.text(), /event: complete/);
  });

  test("the setting opens neither the pages nor the endpoints of the authorization server", async () => {
    for (const path of ["/oauth/sessions", "/oauth/interaction/x", "/oauth/authorize"]) {
      const headers = from(page, preflightHeaders("GET"));
      const answer = await server.request(path, { method: "OPTIONS", key: null, headers });
      assert.equal(answer.headers.get("access-control-allow-methods"), null, path);
      const response = await fetch(server.url + path, { headers: from(page), redirect: "manual" });
      await response.text();
      assert.deepEqual(corsHeadersOf(response), [], path);
    }
  });

  test("the page of a public client can call every endpoint of the authorization server that it needs", async () => {
    const user = await makeUser(server, "grace@example.com");
    const scope = "openid email offline_access posts:read";
    const client = await makePublicClient(server, scope.replaceAll(" ", ","));
    const send = async (path: string, init: RequestInit = {}): Promise<Answer["body"]> => {
      const response = await fetch(server.url + path, {
        ...init,
        headers: { origin: application, ...(init.headers as Record<string, string>) },
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const allowed = response.headers.get("access-control-allow-origin") ?? "";
      assert.ok([application, "*"].includes(allowed), path);
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
      return text === "" ? undefined : JSON.parse(text);
    };
    const form = (fields: Readonly<Record<string, string>>): RequestInit => ({
      method: "POST",
      body: new URLSearchParams(fields),
    });
    for (const path of ["/token", "/userinfo", "/revoke"]) {
      const response = await fetch(`${server.url}/oauth${path}`, {
        method: "OPTIONS",
        headers: from(application, preflightHeaders("POST")),
      });
      assert.equal(response.status, 204);
      assert.equal(response.headers.get("access-control-allow-origin"), application);
      assert.equal(response.headers.get("access-control-allow-headers"), "authorization");
    }
    await send("/.well-known/oauth-protected-resource");
    await send("/.well-known/oauth-authorization-server/oauth");
    await send("/oauth/.well-known/openid-configuration");
    await send("/oauth/jwks");
    const tokens = await send("/oauth/token", form(await obtainCode(server, client, user, scope)));
    const authorization = `Bearer ${tokens.access_token}`;
    assert.equal((await send("/oauth/userinfo", { headers: { authorization } })).email, user.email);
    await send("/oauth/revoke", form({ token: tokens.refresh_token, client_id: client.clientId }));
  });

  test("pages of other origins, and of clients with a secret, cannot call them", async () => {
    const user = await makeUser(server, "mary@example.com");
    const scope = "openid email posts:read";
    const client = await makePublicClient(server, scope.replaceAll(" ", ","));
    const secret = await makeClient(server, "--type", "confidential", "--redirect-uri", callback);
    const { access_token: token } = await obtainTokens(server, client, user, scope);
    const send = async (path: string, init: RequestInit, origin: string): Promise<void> => {
      const headers = { ...(init.headers as Record<string, string>), origin };
      const response = await fetch(server.url + path, { ...init, headers });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /origin .* not allowed/);
      assert.equal(response.headers.get("access-control-allow-origin"), null);
    };
    const form = (fields: Readonly<Record<string, string>>): RequestInit => ({
      method: "POST",
      body: new URLSearchParams(fields),
    });
    for (const origin of ["https://evil.example", page, `${application}.evil.example`, "null"]) {
      await send("/oauth/token", form(await obtainCode(server, client, user, scope)), origin);
      await send("/oauth/userinfo", { headers: { authorization: `Bearer ${token}` } }, origin);
      await send("/oauth/revoke", form({ token, client_id: client.clientId }), origin);
    }
    const { clientId, clientSecret = "" } = secret;
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    const revoke = { ...form({ token: "x" }), headers: { authorization } };
    await send("/oauth/revoke", revoke, application);
  });

  test("without the setting no origin is allowed, and with * every origin is", async () => {
    const started = async (
      environment: Environment,
      look: (server: Portico) => Promise<void>,
    ): Promise<void> => {
      const workspace = await makeWorkspace(database);
      const server = await Portico.start(workspace, { env: environment });
      try {
        await look(server);
      } finally {
        await server.stop();
        await workspace.remove();
      }
    };
    const preflight = { method: "OPTIONS", headers: from(page, preflightHeaders("GET")), key: null };
    await started({}, async (server) => {
      const answer = await server.request("/posts", { headers: from(page) });
      assert.deepEqual([...corsHeadersOf(answer), answer.headers.get("vary")], [null]);
      assert.deepEqual(corsHeadersOf(await server.request("/posts", preflight)), []);
    });
    await started({ PORTICO_CORS_ORIGINS: "*" }, async (server) => {
      for (const origin of [page, "null"]) {
        const answer = await server.request("/posts", { headers: from(origin) });
        assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      }
      const answer = await server.request("/posts", preflight);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.match(answer.headers.get("access-control-allow-methods") ?? "", /GET/);
    });
  });
});
