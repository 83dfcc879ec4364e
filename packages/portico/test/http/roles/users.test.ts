// Roles of users: what their keys may do, and who may change them, over REST and GraphQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { requestGraphql } from "../../support/graphql/request.ts";
import { createdPosts, subscriptionStarted, withStream } from "../../support/graphql/subscriptions.ts";
import { makeKey, opens } from "../../support/keys.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase, portico } from "../../support/server.ts";

onEachDatabase("roles of users", (database) => {
  const server = serve(database);
  let users = 0;
  const makeUser = async (role?: string): Promise<{ readonly id: string; readonly email: string }> => {
    users += 1;
    const words = ["--name", "U", "--email", `u${users}@example.com`, "--password", "correct horse"];
    const { user } = await server.command("user", "create", ...words, ...(role ? ["--role", role] : []));
    return user;
  };
  const keyOf = async ({ id }: { readonly id: string }, ...scopes: string[]): Promise<string> =>
    (await makeKey(server, { ownerId: id, scopes })).key;
  const patch = (id: string, body: object, key = server.portico.key) =>
    server.request(`/users/${id}`, { method: "PATCH", key, body });
  const forbidden = { status: 403, code: "forbidden" } as const;

  test("the first user of a tenant is its owner, all others are members", async () => {
    const { body } = await server.request("/users?sort=createdAt&fields=role");
    assert.equal(body.data[0].role, "owner");
    const added = await server.create("/users", { name: "Added", email: "added@example.com" });
    assert.deepEqual([added.role, added.active], ["member", true]);
  });

  test("a key has the scopes that the role of its owner includes, at each request", async () => {
    const user = await makeUser();
    const key = await keyOf(user, "posts:read", "users:write", "keys:read");
    assert.equal(await opens(server, key), true);
    expectAnswer(await server.request("/v1/api-keys", { key }), {
      status: 403,
      code: "insufficient_scope",
      message: /`keys:read`.*role `member`/,
      headers: { "www-authenticate": /scope="keys:read"/ },
    });
    const { body } = await requestGraphql(server, "{ apiKeys { id } }", { key });
    assert.equal(body.errors[0].extensions.code, "insufficient_scope");
    assert.match(body.errors[0].message, /keys:read, which the role member of this user does not have/);
    await patch(user.id, { role: "owner" });
    expectAnswer(await server.request("/v1/api-keys", { key }), { status: 200 });
    await patch(user.id, { role: "member" });
    expectAnswer(await server.request("/v1/api-keys", { key }), { status: 403 });
  });

  test("a key with * has the scopes of the role", async () => {
    const user = await makeUser();
    const key = await keyOf(user, "*");
    expectAnswer(await server.request("/posts", { key }), { status: 200 });
    expectAnswer(await server.request("/users", { key }), { status: 200 });
    expectAnswer(await patch(user.id, { role: "owner" }, key), { status: 403, code: "insufficient_scope" });
    expectAnswer(await server.request("/users", { key, body: { name: "X", email: "x@example.com" } }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("a key without an owner and a client that acts for itself have no role", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Unowned");
    const words = ["--name", "Unowned", "--scopes", "keys:read,posts:read", "--tenant", tenant.id];
    const { key, ownerId } = await server.command("key", "create", ...words);
    assert.equal(ownerId, null);
    expectAnswer(await server.request("/v1/api-keys", { key }), { status: 200 });
  });

  test("a first user who is created without every scope is a member", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Provisioned");
    const words = ["--name", "Limited", "--scopes", "users:read,users:write", "--tenant", tenant.id];
    const { key } = await server.command("key", "create", ...words);
    const user = await server.create("/users", { name: "One", email: "one@example.com" }, { key });
    assert.equal(user.role, "member");
    expectAnswer(await patch(user.id, { role: "owner" }, key), forbidden);
    expectAnswer(await patch(user.id, { email: "other@example.com" }, key), { status: 200 });
  });

  test("a role is given only by those who have its scopes", async () => {
    const owner = await makeUser("owner");
    const other = await makeUser();
    const limited = await keyOf(owner, "users:read", "users:write");
    expectAnswer(await patch(other.id, { role: "owner" }, limited), {
      ...forbidden,
      details: [{ field: "role", issue: "choice" }],
    });
    const body = { name: "New", email: "new-owner@example.com", role: "owner" };
    expectAnswer(await server.request("/users", { body, key: limited }), forbidden);
    const { body: result } = await requestGraphql(
      server,
      `mutation { updateUser(id: "${other.id}", input: { role: owner }) { id } }`,
      { key: limited },
    );
    assert.equal(result.errors[0].extensions.code, "forbidden", JSON.stringify(result));
    expectAnswer(await patch(other.id, { role: "owner" }), { status: 200, body: { role: "owner" } });
    // An owner is above a credential without every scope.
    for (const change of [
      { email: "taken@example.com" },
      { active: false },
      { role: "member" },
      { name: "Taken" },
    ])
      expectAnswer(await patch(other.id, change, limited), forbidden);
    expectAnswer(await server.request(`/users/${other.id}`, { method: "DELETE", key: limited }), forbidden);
  });

  test("PUT without role and active keeps both", async () => {
    const user = await makeUser("owner");
    const body = { name: "Put", email: "put@example.com" };
    const answer = await server.request(`/users/${user.id}`, { method: "PUT", body });
    expectAnswer(answer, { status: 200, body: { ...body, role: "owner", active: true } });
  });

  for (const value of ["admin", "", "*", "constructor", "__proto__", "OWNER", null, 1, ["owner"], { a: 1 }])
    test(`the role ${JSON.stringify(value)} is refused`, async () => {
      const user = await makeUser();
      expectAnswer(await patch(user.id, { role: value }), { status: 422, code: "validation_error" });
      expectAnswer(await patch(user.id, { active: value }), { status: 422, code: "validation_error" });
    });

  test("an unknown role in a command is refused", async () => {
    const user = await makeUser();
    for (const role of ["boss", "constructor"]) {
      const { code, stderr } = await portico(server.workspace, ["user", "role", user.id, role]);
      assert.deepEqual([code, /there is no role/.test(stderr)], [1, true], stderr);
    }
  });

  test("a deactivated user's keys are refused at the next request, and valid again afterwards", async () => {
    const user = await makeUser();
    const key = await keyOf(user, "posts:read");
    assert.equal(await opens(server, key), true);
    expectAnswer(await patch(user.id, { active: false }), { status: 200, body: { active: false } });
    expectAnswer(await server.request("/posts", { key }), { status: 401, code: "invalid_credential" });
    const { body } = await requestGraphql(server, "{ posts { id } }", { key });
    assert.equal(body.error?.code ?? body.errors?.[0].extensions.code, "invalid_credential");
    await patch(user.id, { active: true });
    assert.equal(await opens(server, key), true);
  });

  test("a demotion and a deactivation end subscriptions", async () => {
    for (const change of [{ active: false }, { role: "none" }]) {
      const user = await makeUser("owner");
      const key = await keyOf(user, "keys:read", "posts:read");
      const query = "role" in change ? "subscription { apiKeyUpdated { id } }" : createdPosts;
      await withStream(server.portico, query, { key }, async (stream) => {
        await subscriptionStarted();
        await patch(user.id, "role" in change ? { role: "member" } : change);
        await stream.ended();
      });
    }
  });

  test("the last owner cannot be demoted, deactivated or deleted", async () => {
    const words = ["--email", "last@example.com", "--name", "Last", "--password", "correct horse"];
    const { tenant } = await server.command("tenant", "create", "--name", "Last");
    const { user } = await server.command("user", "create", ...words, "--tenant", tenant.id);
    assert.equal(user.role, "owner");
    const of = ["--tenant", tenant.id];
    const { key } = await server.command("key", "create", "--name", "Own", "--scopes", "*", ...of);
    const conflict = { status: 409, code: "conflict", message: /last active user/ } as const;
    expectAnswer(await patch(user.id, { role: "member" }, key), conflict);
    expectAnswer(await patch(user.id, { active: false }, key), conflict);
    expectAnswer(await server.request(`/users/${user.id}`, { method: "DELETE", key }), conflict);
    const second = { name: "Second", email: "second@example.com", role: "owner" };
    const other = await server.create("/users", second, { key });
    const both = await Promise.all([user, other].map(({ id }) => patch(id, { role: "member" }, key)));
    // The key loses its scopes with its owner's role, so a refusal may come from either.
    assert.equal(both.filter(({ status }) => status === 200).length, 1, both.map(({ text }) => text).join());
    const { users: left } = await server.command("user", "list", ...of);
    assert.equal(left.filter(({ role }: { role: string }) => role === "owner").length, 1);
  });

  test("a key of another user is created or changed only by those whose role includes the other's", async () => {
    const owner = await makeUser("owner");
    const limited = await keyOf(owner, "keys:read", "keys:manage", "posts:read");
    const member = await makeUser();
    await makeKey(server, { ownerId: member.id }, { key: limited });
    const other = await makeUser("owner");
    const body = { name: "Theirs", scopes: ["posts:read"], ownerId: other.id };
    expectAnswer(await server.request("/v1/api-keys", { key: limited, body }), forbidden);
    const theirs = await makeKey(server, { ownerId: other.id });
    const path = `/v1/api-keys/${theirs.id}`;
    const rename = { method: "PATCH", key: limited, body: { name: "Mine" } };
    expectAnswer(await server.request(path, rename), forbidden);
    expectAnswer(await server.request(`${path}/rotations`, { key: limited, body: {} }), forbidden);
    expectAnswer(await server.request(path, { method: "DELETE", key: limited }), { status: 204 });
  });
});
