// Who the caller is: `/v1/me` and `me` of GraphQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { emailTo, linkIn } from "../../support/emails.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { basic, makeClient, makePublicClient, makeUser, obtainTokens, post } from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("who the caller is", (database) => {
  const server = serve(database);
  const me = (key: string) => server.request("/v1/me", { key });
  const patch = (key: string, body: unknown) => server.request("/v1/me", { method: "PATCH", key, body });

  test("a key of a user shows the tenant, the user, the scopes and the quota", async () => {
    const user = await makeUser(server, "member@example.com");
    const body = { ownerId: user.id, scopes: ["posts:read", "keys:read"], rateLimit: { limit: 50 } };
    const { key } = await makeKey(server, body);
    const answer = await me(key);
    expectAnswer(answer, { status: 200 });
    const { tenant, ...others } = answer.body;
    assert.deepEqual([Object.keys(tenant), tenant.name], [["id", "name"], "Sandbox"]);
    assert.deepEqual(others, {
      kind: "key",
      user: { id: user.id, name: "Grace Hopper", email: "member@example.com", role: "member" },
      scopes: ["posts:read"],
      rateLimit: { limit: 50, windowSeconds: 60 },
    });
  });

  test("every kind of credential can ask", async () => {
    const publishable = await makeKey(server, { type: "publishable", scopes: [] });
    expectAnswer(await me(publishable.key), {
      status: 200,
      body: { kind: "anonymous", user: null, scopes: [] },
    });
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    const client = { kind: "client", user: null, scopes: ["posts:read"] };
    expectAnswer(await me(granted.body.access_token), { status: 200, body: client });
    const user = await makeUser(server, "token@example.com");
    const application = await makePublicClient(server, "openid,posts:read");
    const { access_token } = await obtainTokens(server, application, user, "openid posts:read");
    const ofUser = { kind: "user", user: { id: user.id, role: "member" } };
    expectAnswer(await me(access_token), { status: 200, body: ofUser });
    expectAnswer(await server.request("/v1/me", { key: null }), { status: 401 });
    expectAnswer(await server.request("/v1/me?x=1"), {
      status: 422,
      details: [{ field: "x", issue: "unknown" }],
    });
  });

  test("a key of another tenant shows that tenant", async () => {
    const other = await makeTenant(server.workspace, "posts:read");
    expectAnswer(await me(other.key), {
      status: 200,
      body: { tenant: { id: other.id, name: "Another" }, user: { id: other.userId, role: "owner" } },
    });
  });

  test("GraphQL selects the same", async () => {
    const query =
      "{ me { __typename is: kind tenant { name } user { email role } scopes rateLimit { limit windowSeconds } } }";
    const { key } = await makeKey(server, { scopes: ["posts:read"], rateLimit: { limit: 60 } });
    const { body } = await requestGraphql(server, query, { key });
    assert.deepEqual(body.data.me, {
      __typename: "Me",
      is: "key",
      tenant: { name: "Sandbox" },
      user: { email: "ada@example.com", role: "owner" },
      scopes: ["posts:read"],
      rateLimit: { limit: 60, windowSeconds: 60 },
    });
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    const ofClient = await requestGraphql(server, "{ me { user { id } } }", {
      key: granted.body.access_token,
    });
    assert.deepEqual(ofClient.body.data.me, { user: null });
  });

  test("members change their own name, and their address once the new one is confirmed", async () => {
    const user = await makeUser(server, "own@example.com");
    const { key } = await makeKey(server, { ownerId: user.id, scopes: ["posts:read"] });
    expectAnswer(await patch(key, { name: "Renamed" }), { status: 200, body: { user: { name: "Renamed" } } });
    const answer = await patch(key, { email: "own-new@example.com" });
    expectAnswer(answer, { status: 200, body: { user: { email: "own@example.com" } } });
    const told = await emailTo(server, "own@example.com", "account.email_changed");
    assert.match(told.text, /own-new@example\.com/);
    assert.match(
      linkIn(await emailTo(server, "own-new@example.com", "account.email_link")),
      /\/email\?token=/,
    );
  });

  test("an application changes a name only with the scope profile", async () => {
    const user = await makeUser(server, "profile@example.com");
    const application = await makePublicClient(server, "openid,profile,posts:read");
    const narrow = await obtainTokens(server, application, user, "openid posts:read");
    const change = { name: "By application" };
    const missing = { status: 403, code: "insufficient_scope", message: /`profile`/ } as const;
    expectAnswer(await patch(narrow.access_token, change), missing);
    const wide = await obtainTokens(server, application, user, "openid profile posts:read");
    expectAnswer(await patch(wide.access_token, change), { status: 200, body: { user: change } });
  });

  for (const [field, value] of [
    ["role", "owner"],
    ["role", "member"],
    ["active", false],
    ["id", "user_1"],
    ["createdAt", "2026-01-01T00:00:00.000Z"],
  ] as const)
    test(`nobody changes their own ${field} to ${value} here`, async () => {
      const user = await makeUser(server, `${field}-${String(value).slice(0, 4)}@example.com`);
      const { key } = await makeKey(server, { ownerId: user.id, scopes: ["*"] });
      expectAnswer(await patch(key, { [field]: value }), {
        status: 422,
        code: "validation_error",
        details: [{ field, issue: "read_only" }],
      });
    });

  test("hostile bodies are refused", async () => {
    for (const body of [
      [],
      "x",
      null,
      1,
      { name: "" },
      { name: null },
      { email: "no address" },
      { constructor: 1 },
    ])
      assert.ok(
        [400, 422].includes((await patch(server.portico.key, JSON.stringify(body))).status),
        String(body),
      );
    const polluting = '{"__proto__": {"role": "owner"}}';
    assert.ok([400, 422].includes((await patch(server.portico.key, polluting)).status));
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "users:write");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    expectAnswer(await patch(granted.body.access_token, { name: "X" }), { status: 403, code: "forbidden" });
    const taken = await patch(server.portico.key, { email: "own@example.com" });
    assert.ok([200, 409].includes(taken.status), taken.text);
  });
});
