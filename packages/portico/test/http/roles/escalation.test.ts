// Ways to more rights than one's own: through keys, clients and addresses that a limited credential manages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { emailTo } from "../../support/emails.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { basic, makeUser, post } from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const forbidden = { status: 403, code: "forbidden" } as const;

onEachDatabase("ways to more rights", (database) => {
  const server = serve(database);
  let count = 0;
  const newUser = (role?: string) => {
    count += 1;
    return makeUser(server, `person${count}@example.com`, ...(role ? ["--role", role] : []));
  };
  const emailOf = async (id: string): Promise<string> => (await server.request(`/users/${id}`)).body.email;
  /** A token of a client that acts for itself, which has no role. */
  const machineToken = async (...scopes: string[]): Promise<string> => {
    const client = await server.create("/v1/oauth-clients", {
      ...{ name: "Machine", type: "confidential", grantTypes: ["client_credentials"], scopes },
    });
    return (await post(server, "/token", { grant_type: "client_credentials" }, basic(client))).body
      .access_token;
  };

  test("a credential without a role makes no key for a user with administrative scopes that it lacks", async () => {
    const [owner, member] = [await newUser("owner"), await newUser()];
    const key = await machineToken("users:read", "users:write", "keys:read", "keys:manage");
    const mint = (ownerId: string) =>
      server.request("/v1/api-keys", { key, body: { name: "M", scopes: ["users:write"], ownerId } });
    expectAnswer(await mint(owner.id), { ...forbidden, message: /You lack the scope/ });
    expectAnswer(await mint(member.id), { status: 201 });
    const theirs = await makeKey(server, { ownerId: owner.id, scopes: ["users:write"] });
    const path = `/v1/api-keys/${theirs.id}`;
    expectAnswer(await server.request(`${path}/rotations`, { key, body: {} }), forbidden);
    expectAnswer(await server.request(path, { method: "PATCH", key, body: { name: "Mine" } }), forbidden);
    const input = `input: { name: "M", scopes: ["users:write"], ownerId: "${owner.id}" }`;
    const mutation = `mutation { a: createApiKey(${input}) { __typename } b: createApiKey(${input}) { __typename } }`;
    const { body } = await requestGraphql(server, mutation, { key });
    assert.equal(body.errors[0].extensions.code, "forbidden", JSON.stringify(body));
  });

  test("a key of an owner with few scopes does not take over the account by its address", async () => {
    const owner = await newUser("owner");
    const body = { ownerId: owner.id, scopes: ["users:read", "users:write", "keys:manage"] };
    const { key } = await makeKey(server, body);
    const change = (email: string, presented: string) =>
      server.request(`/users/${owner.id}`, { method: "PATCH", key: presented, body: { email } });
    const taken = `taken-${owner.email}`;
    expectAnswer(await change(taken, key), { status: 200, body: { email: owner.email } });
    await emailTo(server, owner.email, "account.email_changed");
    assert.equal(await emailOf(owner.id), owner.email);
    const replaced = { name: "Replaced", email: `put-${owner.email}` };
    const put = await server.request(`/users/${owner.id}`, { method: "PUT", key, body: replaced });
    expectAnswer(put, { status: 200, body: { name: "Replaced", email: owner.email } });
    const full = await makeKey(server, { ownerId: owner.id, scopes: ["*"] });
    const own = `own-${owner.email}`;
    expectAnswer(await change(own, full.key), { status: 200, body: { email: own } });
  });
});
