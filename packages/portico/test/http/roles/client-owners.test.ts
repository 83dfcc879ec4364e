// Clients that act for themselves do at most what the role of their owner allows: the user who last changed them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { basic, type CreatedClient, makeUser, post, type User } from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const path = "/v1/oauth-clients";
/** Longer than the status of an access token is reused. */
const settleMs = 600;

onEachDatabase("owners of clients", (database) => {
  const server = serve(database);
  let count = 0;
  const makeOwner = async (): Promise<readonly [User, string]> => {
    count += 1;
    const user = await makeUser(server, `maker${count}@example.com`, "--role", "owner");
    return [user, (await makeKey(server, { ownerId: user.id, scopes: ["*"] })).key];
  };
  const makeMachine = (key?: string): Promise<CreatedClient & { readonly ownerId: string | null }> => {
    const scopes = ["posts:read", "clients:read"];
    const body = { name: "Machine", type: "confidential", grantTypes: ["client_credentials"], scopes };
    return server.create(path, body, key === undefined ? {} : { key });
  };
  const tokenOf = (client: CreatedClient) =>
    post(server, "/token", { grant_type: "client_credentials" }, basic(client));
  const patch = async ({ id }: User, body: object): Promise<void> =>
    expectAnswer(await server.request(`/users/${id}`, { method: "PATCH", body }), { status: 200 });
  const refusedScope = {
    status: 403,
    code: "insufficient_scope",
    message: /role of the client's owner/,
  } as const;

  test("a demotion of the owner counts for tokens, new tokens and introspection, and ends with another owner", async () => {
    const [owner, key] = await makeOwner();
    const client = await makeMachine(key);
    assert.equal(client.ownerId, owner.id);
    const { body } = await tokenOf(client);
    assert.equal(body.scope, "clients:read posts:read");
    const opens = (at: string) => server.request(at, { key: body.access_token });
    expectAnswer(await opens(path), { status: 200 });
    const me = await opens("/v1/me");
    assert.partialDeepStrictEqual(me.body, { kind: "client", user: null });

    await patch(owner, { role: "member" });
    await sleep(settleMs);
    expectAnswer(await opens(path), refusedScope);
    expectAnswer(await opens("/posts"), { status: 200 });
    const graphql = await requestGraphql(server, "{ oauthClients { id } }", { key: body.access_token });
    assert.match(graphql.body.errors[0].message, /which the role of the client's owner does not have/);
    assert.equal((await tokenOf(client)).body.scope, "posts:read");
    const seen = await post(server, "/introspect", { token: body.access_token }, basic(client));
    assert.deepEqual([seen.body.active, seen.body.scope], [true, "posts:read"]);

    const rename = { method: "PATCH", body: { name: "Adopted" } };
    expectAnswer(await server.request(`${path}/${client.id}`, { ...rename, key }), { status: 403 });
    const adopted = await server.request(`${path}/${client.id}`, rename);
    expectAnswer(adopted, { status: 200 });
    assert.notEqual(adopted.body.ownerId, owner.id);
    await sleep(settleMs);
    expectAnswer(await opens(path), { status: 200 });
  });

  for (const [what, end] of [
    ["deactivated", (user: User) => patch(user, { active: false })],
    [
      "deleted",
      async ({ id }: User) =>
        expectAnswer(await server.request(`/users/${id}`, { method: "DELETE" }), { status: 204 }),
    ],
  ] as const)
    test(`tokens of a client are refused once its owner is ${what}, and a rotation gives it another`, async () => {
      const [owner, key] = await makeOwner();
      const client = await makeMachine(key);
      const { access_token } = (await tokenOf(client)).body;
      expectAnswer(await server.request("/posts", { key: access_token }), { status: 200 });
      await end(owner);
      await sleep(settleMs);
      expectAnswer(await server.request("/posts", { key: access_token }), { status: 401 });
      const late = await tokenOf(client);
      assert.ok(late.status < 500, late.text);
      if (late.status === 200)
        expectAnswer(await server.request("/posts", { key: late.body.access_token }), { status: 401 });
      const rotated = await server.request(`${path}/${client.id}/rotations`, { body: {} });
      expectAnswer(rotated, { status: 201 });
      const renewed = await tokenOf({ ...client, clientSecret: rotated.body.clientSecret });
      expectAnswer(await server.request("/posts", { key: renewed.body.access_token }), { status: 200 });
    });

  test("a client of a command has no owner, and its scopes are its own", async () => {
    const words = [
      "--type",
      "confidential",
      "--grant-types",
      "client_credentials",
      "--scopes",
      "clients:read",
    ];
    const client = await server.command("client", "create", "--name", "Command", ...words);
    const { body } = await tokenOf(client);
    expectAnswer(await server.request(path, { key: body.access_token }), { status: 200 });
  });

  test("nobody sets the owner", async () => {
    const { id } = await makeMachine();
    for (const ownerId of [id, null, "user_x"]) {
      const body = { ownerId };
      expectAnswer(await server.request(`${path}/${id}`, { method: "PATCH", body }), { status: 422 });
    }
  });
});
