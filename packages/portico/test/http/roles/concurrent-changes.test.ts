// Changes of roles at the same time, in one operation, and in another process.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countDirectly } from "../../support/database-reader.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeKey } from "../../support/keys.ts";
import { makePublicClient, makeUser, obtainTokens } from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, portico } from "../../support/server.ts";

onEachDatabase("concurrent changes of roles", (database) => {
  const server = serve(database);
  let count = 0;
  /** A tenant with two owners, and a key for each. */
  const makeOwners = async () => {
    const tenant = await makeTenant(server.workspace, "*");
    count += 1;
    const body = { name: "Second", email: `second${count}@example.com`, role: "owner" };
    const second = await server.create("/users", body, { key: tenant.key });
    const minted = await makeKey(server, { ownerId: second.id, scopes: ["*"] }, { key: tenant.key });
    return [
      { id: tenant.userId, key: tenant.key },
      { id: second.id as string, key: minted.key },
    ] as const;
  };
  const ownersIn = async (tenantKeys: readonly string[]): Promise<number> => {
    for (const key of tenantKeys) {
      const { status, body } = await server.request("/users?perPage=100", { key });
      if (status === 200)
        return body.data.filter(
          (user: { role: string; active: boolean }) => user.role === "owner" && user.active,
        ).length;
    }
    return 0;
  };
  const changes: readonly [string, (id: string, key: string) => Promise<Answer>][] = [
    [
      "demote",
      (id, key) => server.request(`/users/${id}`, { method: "PATCH", key, body: { role: "member" } }),
    ],
    [
      "deactivate",
      (id, key) => server.request(`/users/${id}`, { method: "PATCH", key, body: { active: false } }),
    ],
    ["delete", (id, key) => server.request(`/users/${id}`, { method: "DELETE", key })],
    [
      "demote by GraphQL",
      (id, key) =>
        requestGraphql(server, `mutation { updateUser(id: "${id}", input: { role: member }) { id } }`, {
          key,
        }),
    ],
  ];
  for (const [first, one] of changes)
    for (const [second, other] of changes)
      test(`two owners who ${first} and ${second} each other leave one`, async () => {
        const [ada, bob] = await makeOwners();
        const answers = await Promise.all([one(ada.id, bob.key), other(bob.id, ada.key)]);
        for (const { status, text } of answers) assert.ok(status < 500, text);
        assert.equal(await ownersIn([ada.key, bob.key]), 1, answers.map(({ text }) => text).join("\n"));
      });

  test("one operation does not demote the last owners, in whatever order", async () => {
    const [ada, bob] = await makeOwners();
    const demote = (name: string, id: string) =>
      `${name}: updateUser(id: "${id}", input: { role: member }) { id }`;
    const both = `mutation { ${demote("a", bob.id)} ${demote("b", ada.id)} }`;
    const { body } = await requestGraphql(server, both, { key: ada.key });
    assert.ok(
      body.errors.some((error: { extensions: { code: string } }) => error.extensions.code === "conflict"),
    );
    assert.equal(await ownersIn([ada.key]), 2);
    const reversed = `mutation { ${demote("a", ada.id)} ${demote("b", bob.id)} }`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        requestGraphql(server, index % 2 === 0 ? both : reversed, {
          key: index % 2 === 0 ? ada.key : bob.key,
        }),
      ),
    );
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal(await ownersIn([ada.key]), 2);
  });

  test("a demotion by a command ends what a key and a token over WebSocket are no longer allowed", async () => {
    const user = await makeUser(server, "socket@example.com", "--role", "owner");
    const { key } = await makeKey(server, { ownerId: user.id, scopes: ["*"] });
    const client = await makePublicClient(server, "openid,keys:read");
    const { access_token } = await obtainTokens(server, client, user, "openid keys:read");
    const sockets = await Promise.all(
      [key, access_token].map((each) => TestSocket.ready(server.portico, each)),
    );
    for (const socket of sockets) socket.subscribe("1", "subscription { apiKeyUpdated { id } }");
    await subscriptionStarted();
    const { code, stderr } = await portico(server.workspace, ["user", "role", user.id, "member"]);
    assert.equal(code, 0, stderr);
    for (const socket of sockets) assert.equal((await socket.closed()).code, 4403);
    expectAnswer(await server.request("/v1/api-keys", { key }), { status: 403 });
    expectAnswer(await server.request("/v1/api-keys", { key: access_token }), { status: 403 });
  });

  test("a user of another tenant is found by no command without the tenant's name", async () => {
    const tenant = await makeTenant(server.workspace, "*");
    for (const words of [
      ["user", "role", tenant.userId, "member"],
      ["user", "delete", tenant.userId],
      ["user", "delete", tenant.userId, "--tenant", "tenant_00000000000000000000000000"],
      ["user", "delete", "../../x", "--tenant", tenant.id],
      ["user", "role", "' or 1=1", "owner", "--tenant", tenant.id],
      ["user", "role", tenant.userId, "__proto__", "--tenant", tenant.id],
      ["user", "role", tenant.userId, "member", "--tenant", tenant.id],
      ["user", "delete", tenant.userId, "--tenant", tenant.id],
    ]) {
      const { code, stderr } = await portico(server.workspace, words);
      assert.equal(code, 1, words.join(" "));
      assert.match(stderr, /^portico: \S/);
      assert.doesNotMatch(stderr, /\n {4}at /);
    }
    expectAnswer(await server.request("/v1/me", { key: tenant.key }), {
      status: 200,
      body: { user: { id: tenant.userId, role: "owner" } },
    });
  });
});

// A database of its own, whose deadlocks are counted.
onEachDatabase("users that are created at once", (database) => {
  const server = serve(database);

  test("by several processes, and by operations of several mutations, are all created, without a deadlock", async () => {
    const owner = await makeTenant(server.workspace, "*");
    const created = async (): Promise<number> => {
      const { body } = await server.request("/users?perPage=1", { key: owner.key });
      return body.pagination.total;
    };
    const before = await created();
    const emails = Array.from({ length: 16 }, (_, index) => `at.once.${index}@example.com`);
    const mutation = (name: string, email: string) =>
      `${name}: createUser(input: { name: "${name}", email: "${email}" }) { id }`;
    await Promise.all([
      ...emails.slice(0, 8).map((email) => makeUser(server, email, "--tenant", owner.id)),
      ...emails.slice(8).map(async (email) => {
        const both = `mutation { ${mutation("a", email)} ${mutation("b", `second.${email}`)} }`;
        const { body, text } = await requestGraphql(server, both, { key: owner.key });
        assert.equal(body.errors, undefined, text);
      }),
    ]);
    assert.equal(await created(), before + 8 + 2 * 8);
    if (database !== "postgres") return;
    const deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert.equal(await countDirectly(server.workspace.databaseUrl, deadlocks), 0);
  });
});
