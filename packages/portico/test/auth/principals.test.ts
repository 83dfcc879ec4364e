// A principal acts without a credential, with what its credential could do now; it is gone with the credential.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Principal, Principals, principalOf } from "../../src/auth/principal.ts";
import type { Caller } from "../../src/declare/caller.ts";
import { composeApp } from "../../src/runtime/compose.ts";
import { loadApp } from "../../src/runtime/config.ts";
import { readSettings } from "../../src/runtime/settings/settings.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeKey } from "../support/keys.ts";
import { basic, makeClient, makePublicClient, makeUser, obtainTokens, post } from "../support/oauth.ts";
import { expectAnswer, serve } from "../support/scenario.ts";
import { onEachDatabase } from "../support/server.ts";

const cwd = `${import.meta.dirname}/../fixtures/callers`;
const standardQuota = { limit: 7, windowSeconds: 60 };

onEachDatabase("principals", (database) => {
  const server = serve(database, { cwd });
  let store: Store;
  let principals: Principals;
  before(async () => {
    store = await openStore(server.workspace.databaseUrl);
    const app = await loadApp(cwd);
    const { model } = composeApp(app, readSettings({}, app.settings));
    principals = new Principals(store, model, standardQuota);
  });
  after(() => store?.database.close());

  /** The principal of a credential, as it is stored. */
  const principalWith = async (key: string): Promise<Principal> => {
    const { caller } = await server.create("/notes", { title: "Mine" }, { key });
    const scopes = new Set<string>(caller.scopes);
    const real: Caller = { ...caller, scopes, scopesOutsideRole: new Set<string>(caller.scopesOutsideRole) };
    return JSON.parse(JSON.stringify(principalOf(real)));
  };
  const scopesOf = async (principal: Principal): Promise<readonly string[] | undefined> => {
    const caller = await principals.current(principal);
    return caller && [...caller.scopes].sort();
  };
  const patch = async (path: string, body: object): Promise<void> =>
    expectAnswer(await server.request(path, { method: "PATCH", body }), { status: 200 });
  const remove = async (path: string, key?: string): Promise<void> =>
    expectAnswer(await server.request(path, { method: "DELETE", ...(key && { key }) }), { status: 204 });

  test("a key acts with its current scopes, role and quota, until it is revoked", async () => {
    const owner = await makeUser(server, "key@example.com", "--role", "owner");
    const made = await makeKey(server, {
      scopes: ["notes:read", "notes:write", "users:read"],
      ownerId: owner.id,
    });
    const principal = await principalWith(made.key);
    const caller = await principals.current(principal);
    const { tenantId } = principal;
    assert.partialDeepStrictEqual(caller, {
      ...{ kind: "key", tenantId, userId: owner.id, role: "owner", credentialId: made.id, keyId: made.id },
      quota: standardQuota,
    });
    await patch(`/v1/api-keys/${made.id}`, { scopes: ["notes:read", "notes:write", "keys:read"] });
    assert.deepEqual(await scopesOf(principal), ["keys:read", "notes:read", "notes:write"]);
    await patch(`/users/${owner.id}`, { role: "member" });
    assert.deepEqual(await scopesOf(principal), ["notes:read", "notes:write"]);
    await patch(`/users/${owner.id}`, { active: false });
    assert.equal(await principals.current(principal), undefined);
    await patch(`/users/${owner.id}`, { active: true });
    await remove(`/v1/api-keys/${made.id}`);
    assert.equal(await principals.current(principal), undefined);
  });

  test("a key that was rotated goes on as the last one that replaces it and is valid", async () => {
    const first = await makeKey(server, { scopes: ["notes:read", "notes:write"] });
    const principal = await principalWith(first.key);
    const rotate = (id: string, overlapSeconds: number) =>
      server.create(`/v1/api-keys/${id}/rotations`, { overlapSeconds });
    const second = await rotate(first.id, 0);
    const third = await rotate(second.id, 3_600);
    await patch(`/v1/api-keys/${third.id}`, { scopes: ["notes:read"] });
    assert.deepEqual(await scopesOf(principal), ["notes:read"]);
    assert.equal((await principals.current(principal))?.keyId, third.id);
    await remove(`/v1/api-keys/${third.id}`);
    assert.equal((await principals.current(principal))?.keyId, second.id);
    await remove(`/v1/api-keys/${second.id}`);
    assert.equal(await principals.current(principal), undefined);
  });

  test("a user through a client acts within the token, the client and the role, while the grant stands", async () => {
    const scope = "openid notes:read notes:write keys:read clients:manage clients:read";
    const client = await makePublicClient(server, scope.replaceAll(" ", ","));
    const user = await makeUser(server, "grace@example.com", "--role", "owner");
    const { access_token: token } = await obtainTokens(server, client, user, scope);
    const principal = await principalWith(token);
    assert.deepEqual(await scopesOf(principal), scope.split(" ").sort());
    const caller = await principals.current(principal);
    assert.partialDeepStrictEqual(caller, {
      kind: "user",
      userId: user.id,
      role: "owner",
      isDelegated: true,
    });
    // A revoked token has not ended what was made with it; another one of the grant could have made it.
    await post(server, "/revoke", { token, client_id: client.clientId });
    await patch(`/users/${user.id}`, { role: "member" });
    assert.deepEqual(await scopesOf(principal), ["notes:read", "notes:write", "openid"]);
    await patch(`/users/${user.id}`, { role: "owner" });
    await patch(`/v1/oauth-clients/${client.id}`, { scopes: ["notes:read"] });
    assert.deepEqual(await scopesOf(principal), ["notes:read"]);
    const other = await obtainTokens(server, client, user, "notes:read");
    assert.ok(other.access_token);
    assert.equal(principal.kind, "grant");
    await remove(`/v1/grants/${principal.kind === "grant" ? principal.grantId : ""}`);
    assert.equal(await principals.current(principal), undefined);
  });

  test("a client that acts for itself acts within its scopes until it is deleted", async () => {
    const words = ["--type", "confidential", "--grant-types", "client_credentials"];
    const client = await makeClient(server, ...words, "--scopes", "notes:read,notes:write");
    const fields = { grant_type: "client_credentials", scope: "notes:read notes:write" };
    const { body } = await post(server, "/token", fields, basic(client));
    const principal = await principalWith(body.access_token);
    assert.deepEqual(await scopesOf(principal), ["notes:read", "notes:write"]);
    await patch(`/v1/oauth-clients/${client.id}`, { scopes: ["notes:write"] });
    assert.deepEqual(await scopesOf(principal), ["notes:write"]);
    await remove(`/v1/oauth-clients/${client.id}`);
    assert.equal(await principals.current(principal), undefined);
  });

  test("a command acts for a user with the role of the user, who must be active and of the tenant", async () => {
    const user = await makeUser(server, "command@example.com", "--role", "member");
    const { tenantId } = await principalWith(server.portico.key);
    const principal = principalOf({
      kind: "system",
      tenantId,
      userId: user.id,
      role: null,
      credentialId: "system",
      scopes: new Set(),
    })!;
    assert.partialDeepStrictEqual(await principals.current(principal), {
      kind: "user",
      userId: user.id,
      role: "member",
    });
    assert.deepEqual(await scopesOf(principal), ["notes:read", "notes:write", "users:read"]);
    assert.equal(
      await principals.current({ kind: "user", tenantId: "tenant_other", userId: user.id }),
      undefined,
    );
    await patch(`/users/${user.id}`, { active: false });
    assert.equal(await principals.current(principal), undefined);
  });

  test("a publishable key, a token of another issuer and the server itself are no principals", () => {
    const caller = {
      tenantId: "tenant_1",
      userId: null,
      role: null,
      credentialId: "x",
      scopes: new Set<string>(),
    };
    assert.equal(principalOf({ ...caller, kind: "anonymous", keyId: "api_key_1" }), undefined);
    assert.equal(principalOf({ ...caller, kind: "client", isDelegated: true }), undefined);
    assert.equal(principalOf({ ...caller, kind: "system" }), undefined);
  });
});
