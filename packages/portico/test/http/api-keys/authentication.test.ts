// Authentication with API keys: how they are sent, and when they are refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, expectAnswer, parseAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase, PorticoProcess } from "../../support/server.ts";

const secretLength = 43;

onEachDatabase("authentication", (database) => {
  const server = serve(database);
  const key = () => server.portico.key;
  const makeKey = (...more: string[]) =>
    server.command("key", "create", "--name", "Test", "--scopes", "posts:read", ...more);
  const read = (headers: Record<string, string>) => server.request("/posts?limit=1", { key: null, headers });
  const invalid = {
    status: 401,
    code: "invalid_credential",
    headers: { "www-authenticate": /^Bearer error="invalid_token", resource_metadata="http[^"]+"$/ },
  } as const;

  test("a key is read from Authorization, with the scheme in any case, or from X-API-Key", async () => {
    for (const [name, value] of [
      ["authorization", `Bearer ${key()}`],
      ["authorization", `bearer ${key()}`],
      ["authorization", `BEARER ${key()}`],
      ["x-api-key", key()],
    ] as const) {
      expectAnswer(await read({ [name]: value }), { status: 200 });
    }
  });

  test("without a key the error says how to send one", async () => {
    expectAnswer(await read({}), {
      status: 401,
      code: "authentication_required",
      headers: {
        "www-authenticate": /^Bearer resource_metadata="http[^"]+\/\.well-known\/oauth-protected-resource"$/,
      },
      message: /Authorization: Bearer/,
    });
  });

  test("every path of a resource requires a key, whether or not the row exists", async () => {
    for (const path of [
      "/posts",
      "/posts/x",
      "/v1/deployments",
      "/users",
      "/posts/x/comments",
      "/comments/x",
    ]) {
      expectAnswer(await server.request(path, { key: null }), {
        status: 401,
        code: "authentication_required",
      });
    }
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      expectAnswer(await server.request("/posts/x", { key: null, method }), { status: 401 });
    }
  });

  test("the key is checked before the body", async () => {
    expectAnswer(await server.request("/posts", { key: null, body: "{" }), { status: 401 });
  });

  test("a malformed credential is refused", async () => {
    for (const credential of [
      "Bearer",
      "Bearer ",
      "Bearer x",
      key(),
      `Basic ${Buffer.from(`${key()}:`).toString("base64")}`,
      `Bearer ${key()}x`,
      `Bearer ${key().slice(0, -1)}`,
      `Bearer ${key().toUpperCase()}`,
      `Bearer sk_prod_${"a".repeat(secretLength)}`,
      `Bearer ${key()} ${key()}`,
      `Bearer ${key()},${key()}`,
      "Bearer null",
    ]) {
      expectAnswer(await read({ authorization: credential }), { status: 401, code: "invalid_credential" });
    }
    expectAnswer(await read({ "x-api-key": "" }), { status: 401 });
  });

  test("an unknown prefix and a wrong secret get the same response", async () => {
    const wrongSecret = `${key().slice(0, 12)}${"A".repeat(secretLength - 4)}`;
    const unknownPrefix = `sk_test_${"-".repeat(secretLength)}`;
    const { key: revoked, id } = await makeKey();
    await server.command("key", "revoke", id);
    const answers = await Promise.all(
      [wrongSecret, unknownPrefix, revoked].map((each) => read({ authorization: `Bearer ${each}` })),
    );
    for (const answer of answers) expectAnswer(answer, invalid);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  });

  test("a key of the live environment is refused here with a message that says so", async () => {
    for (const kind of ["sk", "pk"]) {
      expectAnswer(await read({ authorization: `Bearer ${kind}_live_${"a".repeat(secretLength)}` }), {
        status: 401,
        code: "wrong_environment",
        message: /sandbox/,
      });
    }
  });

  test("a revoked key is refused on the very next request, here and by another process", async () => {
    const other = await PorticoProcess.start(server.workspace, { key: key() });
    try {
      for (const revokedWhile of [server.portico, other]) {
        const created = await makeKey();
        for (const portico of [server.portico, other])
          expectAnswer(await portico.request("/posts", { key: created.key }), { status: 200 });
        await server.command("key", "revoke", created.id);
        expectAnswer(await revokedWhile.request("/posts", { key: created.key }), invalid);
      }
    } finally {
      await other.stop();
    }
  });

  test("a key is refused after its expiry", async () => {
    const expiresAt = new Date(Date.now() + 2_500).toISOString();
    const body = { name: "Short", scopes: ["posts:read"], expiresAt };
    const created = await server.create("/v1/api-keys", body);
    expectAnswer(await server.request("/posts", { key: created.key }), { status: 200 });
    await sleep(Date.parse(expiresAt) - Date.now() + 5);
    expectAnswer(await server.request("/posts", { key: created.key }), invalid);
  });

  test("a missing scope is 403 and named", async () => {
    const { key: reader } = await makeKey();
    const forbidden = (scope: string) =>
      ({
        status: 403,
        code: "insufficient_scope",
        message: new RegExp(scope),
        headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
      }) as const;
    expectAnswer(await server.request("/posts", { key: reader }), { status: 200 });
    expectAnswer(
      await server.request("/posts", { key: reader, body: { title: "x" } }),
      forbidden("posts:write"),
    );
    expectAnswer(await server.request("/posts", { key: reader, body: {} }), forbidden("posts:write"));
    expectAnswer(
      await server.request("/posts/x", { key: reader, method: "DELETE" }),
      forbidden("posts:write"),
    );
    expectAnswer(await server.request("/users", { key: reader }), forbidden("users:read"));
    expectAnswer(await server.request("/posts/x/comments", { key: reader }), forbidden("comments:read"));
    expectAnswer(await server.request("/v1/deployments", { key: reader }), forbidden("deploy:read"));
  });

  test("a publishable key grants nothing, whatever its scopes", async () => {
    const created = await makeKey("--type", "publishable");
    assert.match(created.key, /^pk_test_/);
    expectAnswer(await server.request("/posts", { key: created.key }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("a key without a user must name the author of a post", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Without user");
    const scopes = ["--scopes", "posts:write", "--tenant", tenant.id];
    const { key: lonely } = await server.command("key", "create", "--name", "Lonely", ...scopes);
    expectAnswer(await server.request("/posts", { key: lonely, body: { title: "x" } }), {
      status: 422,
      details: [{ field: "authorId", issue: "required" }],
    });
  });

  test("two credentials are malformed, even if they are the same", async () => {
    const both = { authorization: `Bearer ${key()}`, "x-api-key": key() };
    expectAnswer(await read(both), { status: 400, code: "malformed_request" });
  });

  test("the second value of a repeated header is never used", async () => {
    const wrong = `sk_test_${"-".repeat(secretLength)}`;
    for (const lines of [
      [`X-API-Key: ${wrong}`, `X-API-Key: ${key()}`],
      [`Authorization: Bearer ${wrong}`, `Authorization: Bearer ${key()}`],
    ]) {
      const head = ["GET /posts HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""].join("\r\n");
      const answer = parseAnswer(await exchange(server.url, head));
      assert.ok([400, 401].includes(answer.status), answer.text);
    }
  });

  scenarios(
    server,
    [
      "api_key",
      "apikey",
      "apiKey",
      "api-key",
      "access_token",
      "X-API-Key",
      "client_secret",
      "authorization",
    ].map((name) => ({
      fact: `a credential in the query as ${name} is refused, even with a valid header`,
      path: `/posts?${name}=anything`,
      status: 400,
      code: "credential_in_query" as const,
    })),
  );

  test("a key anywhere in the query is refused, in any spelling", async () => {
    const dashed = key().replaceAll("_", "%5f");
    for (const query of [`token=${key()}`, `q=${key()}`, `${key()}`, `q=${dashed}`, `api%5Fkey=x`]) {
      const answer = await server.request(`/posts?${query}`);
      expectAnswer(answer, { status: 400, code: "credential_in_query" });
      assert.ok(!answer.text.includes(key()));
    }
  });

  test("a valid key in the query does not replace one in a header", async () => {
    expectAnswer(await server.request(`/posts?api_key=${key()}`, { key: null }), {
      status: 400,
      code: "credential_in_query",
    });
  });
});
