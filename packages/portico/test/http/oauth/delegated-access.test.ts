// An access token that a user granted has no more rights than its scopes and the role of the user.

import assert from "node:assert/strict";
import { test } from "node:test";
import { requestGraphql } from "../../support/graphql/request.ts";
import {
  basic,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  post,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const scopes = "openid users:read users:write keys:read keys:manage clients:read clients:manage posts:read";

onEachDatabase("delegated access", (database) => {
  let member: User;
  let other: User;
  let key: string;
  const server = serve(database, {
    prepare: async (server) => {
      member = await makeUser(server, "member@example.com", "--role", "owner");
      other = await makeUser(server, "administrator@example.com", "--role", "owner");
      const client = await makePublicClient(server, scopes.replaceAll(" ", ","));
      ({ access_token: key } = await obtainTokens(server, client, member, scopes));
    },
  });
  const forbidden = { status: 403, code: "forbidden" } as const;
  const insufficient = { status: 403, code: "insufficient_scope" } as const;
  const patch = (id: string, body: object, credential = key) =>
    server.request(`/users/${id}`, { method: "PATCH", key: credential, body });

  test("users of higher roles cannot be changed, replaced or deleted", async () => {
    const before = (await server.request(`/users/${other.id}`)).body;
    const existing = { email: "taken@example.com", name: "Taken" };
    expectAnswer(await patch(other.id, { email: existing.email }), forbidden);
    expectAnswer(await patch(other.id, { role: "member" }), forbidden);
    expectAnswer(await patch(other.id, { active: false }), forbidden);
    const path = `/users/${other.id}`;
    expectAnswer(await server.request(path, { method: "PUT", key, body: existing }), forbidden);
    expectAnswer(await server.request(`/v1${path}`, { method: "PUT", key, body: existing }), forbidden);
    expectAnswer(await server.request(path, { method: "DELETE", key }), forbidden);
    for (const mutation of [
      `updateUser(id: "${other.id}", input: { email: "taken@example.com" }) { id }`,
      `deleteUser(id: "${other.id}") { id }`,
    ]) {
      const { body } = await requestGraphql(server, `mutation { ${mutation} }`, { key });
      assert.equal(body.errors[0].extensions.code, "forbidden", JSON.stringify(body));
    }
    expectAnswer(await server.request(path), { status: 200, body: before });
  });

  test("users with users:write change themselves, and add and change members", async () => {
    expectAnswer(await patch(member.id, { name: "Grace Brewster Hopper" }), { status: 200 });
    const added = await server.create("/users", { name: "New", email: "new@example.com" }, { key });
    assert.equal(added.role, "member");
    const changed = await patch(added.id, { name: "Renamed", email: "renamed@example.com" });
    expectAnswer(changed, { status: 200, body: { email: "renamed@example.com" } });
    expectAnswer(await patch(added.id, { role: "owner" }), forbidden);
    expectAnswer(await patch(member.id, { role: "member" }), forbidden);
  });

  test("neither a key nor a client can be granted more than the application has", async () => {
    const named = { name: "Ladder", scopes: ["users:read", "users:write"] };
    expectAnswer(await server.request("/v1/api-keys", { key, body: named }), insufficient);
    const readerKey = await server.create(
      "/v1/api-keys",
      { name: "Reader", scopes: ["users:read"] },
      { key },
    );
    const widened = { method: "PATCH", key, body: { scopes: named.scopes } };
    expectAnswer(await server.request(`/v1/api-keys/${readerKey.id}`, widened), insufficient);
    const strong = await server.create("/v1/api-keys", named);
    const rotation = { key, body: { overlapSeconds: 60 } };
    expectAnswer(await server.request(`/v1/api-keys/${strong.id}/rotations`, rotation), insufficient);
    const machine = { ...named, type: "confidential", grantTypes: ["client_credentials"] };
    expectAnswer(await server.request("/v1/oauth-clients", { key, body: machine }), forbidden);
    const { id } = await makeClient(server, "--type", "confidential", "--scopes", "users:write");
    expectAnswer(await server.request(`/v1/oauth-clients/${id}/rotations`, rotation), forbidden);
  });

  test("keys of other users cannot be created or rotated", async () => {
    const theirs = { name: "Theirs", scopes: ["posts:read"], ownerId: other.id };
    expectAnswer(await server.request("/v1/api-keys", { key, body: theirs }), forbidden);
    const { id } = await server.create("/v1/api-keys", theirs);
    expectAnswer(await server.request(`/v1/api-keys/${id}/rotations`, { key, body: {} }), forbidden);
    await server.create("/v1/api-keys", { ...theirs, ownerId: member.id }, { key });
  });

  for (const scope of ["keys:manage", "clients:manage", "*"]) {
    test(`a key with the scope ${scope} cannot be created`, async () => {
      const answer = await server.request("/v1/api-keys", { key, body: { name: "Ladder", scopes: [scope] } });
      expectAnswer(answer, insufficient);
    });
  }

  test("keys of other users and keys without an owner cannot be changed, replaced or revoked", async () => {
    const theirs = await server.create("/v1/api-keys", {
      name: "T",
      scopes: ["posts:read"],
      ownerId: other.id,
    });
    // A key that a service creates has no owner.
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "keys:manage,posts:read");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    const body = { name: "Machine's", scopes: ["posts:read"] };
    const ofMachine = await server.create("/v1/api-keys", body, { key: granted.body.access_token });
    assert.equal(ofMachine.ownerId, null);
    for (const { id } of [theirs, ofMachine]) {
      const path = `/v1/api-keys/${id}`;
      const change = { method: "PATCH", key, body: { name: "Mine" } };
      expectAnswer(await server.request(path, change), forbidden);
      expectAnswer(await server.request(`${path}/rotations`, { key, body: {} }), forbidden);
      expectAnswer(await server.request(path, { method: "DELETE", key }), forbidden);
    }
    const all = `/v1/users/${other.id}/api-keys`;
    expectAnswer(await server.request(all, { method: "DELETE", key }), forbidden);
  });

  test("clients cannot be created, changed, deleted or rotated", async () => {
    const open = {
      name: "Open",
      type: "public",
      redirectUris: ["https://a.example/cb"],
      scopes: ["posts:read"],
    };
    expectAnswer(await server.request("/v1/oauth-clients", { key, body: open }), forbidden);
    const { id } = await server.create("/v1/oauth-clients", open);
    const path = `/v1/oauth-clients/${id}`;
    const change = { method: "PATCH", key, body: { redirectUris: ["https://b.example/cb"] } };
    expectAnswer(await server.request(path, change), forbidden);
    expectAnswer(await server.request(path, { method: "DELETE", key }), forbidden);
    const query = `mutation { deleteOAuthClient(id: "${id}") { id } }`;
    const { body } = await server.request("/graphql", { key, body: { query } });
    assert.equal(body.errors[0].extensions.code, "forbidden");
  });

  test("API keys and clients that act for themselves can change users", async () => {
    const member = await server.create("/users", { name: "Known", email: "known@example.com" });
    expectAnswer(await patch(member.id, { name: "Known" }, server.portico.key), { status: 200 });
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "users:read,users:write");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    expectAnswer(await patch(member.id, { name: "Known" }, granted.body.access_token), { status: 200 });
  });
});
