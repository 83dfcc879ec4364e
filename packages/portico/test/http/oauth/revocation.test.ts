// Revocation of tokens and grants, and what revokes them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  type CreatedClient,
  callback,
  makePublicClient,
  makeUser,
  obtainTokens,
  post,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase, Portico } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";
const offline = "openid offline_access posts:read";
const invalid = { status: 401, code: "invalid_credential" } as const;

onEachDatabase("oauth: revocation of tokens", (database) => {
  let user: User;
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, every);
    },
  });

  test("revoking a refresh token revokes its access tokens within a second", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    const revoked = await post(server, "/revoke", {
      token: tokens.refresh_token,
      client_id: client.clientId,
    });
    assert.equal(revoked.status, 200);
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), invalid);
  });

  test("revoking an access token revokes the refresh token of its grant", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const shown = { client_id: client.clientId };
    const revoked = await post(server, "/revoke", { token: tokens.access_token, ...shown });
    assert.equal(revoked.status, 200);
    const again = { grant_type: "refresh_token", refresh_token: tokens.refresh_token, ...shown };
    refused(await post(server, "/token", again), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), invalid);
  });

  test("tokens are invalid once their client or user is deleted", async () => {
    const [deleted, other] = [
      await makeUser(server, "gone@example.com"),
      await makePublicClient(server, every),
    ];
    const ofUser = await obtainTokens(server, client, deleted, "openid posts:read");
    const ofClient = await obtainTokens(server, other, user, "openid posts:read");
    for (const { access_token: key } of [ofUser, ofClient])
      assert.equal((await server.request("/posts", { key })).status, 200);
    await server.command("client", "delete", other.id);
    assert.equal((await server.request(`/users/${deleted.id}`, { method: "DELETE" })).status, 204);
    await sleep(1_000);
    for (const { access_token: key } of [ofUser, ofClient])
      expectAnswer(await server.request("/posts", { key }), invalid);
  });

  test("a user revokes the access of an application, and its tokens are invalid within a second", async () => {
    const grants = `${server.url}/oauth/grants`;
    assert.equal((await new Browser().open(grants)).status, 401);
    const someone = await makeUser(server, "someone@example.com");
    const browser = new Browser();
    const { url, verifier } = authorizeUrl(server, client, offline);
    const back = await signInAndAllow(browser, url, someone);
    const fields = { grant_type: "authorization_code", redirect_uri: callback, client_id: client.clientId };
    const code = back.searchParams.get("code") ?? "";
    const { body } = await post(server, "/token", { ...fields, code, code_verifier: verifier });
    assert.equal((await server.request("/posts", { key: body.access_token })).status, 200);
    const shown = await browser.open(grants);
    assert.match(shown.text, /Planner/);
    const [, application = ""] = /name="application" value="([^"]+)"/.exec(shown.text) ?? [];
    assert.equal(application, client.clientId);
    const forged = new URLSearchParams({ application, csrf: "A".repeat(43) });
    assert.equal((await browser.open(grants, { method: "POST", body: forged })).status, 403);
    const after = await browser.submit(shown, { application });
    assert.match(after.text, /No application has access/);
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: body.access_token }), invalid);
  });

  test("a caller who manages clients can revoke grants of their tenant only", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const { grant_id: grant } = JSON.parse(
      Buffer.from(tokens.access_token.split(".")[1], "base64url").toString(),
    );
    const path = `/v1/grants/${grant}`;
    expectAnswer(await server.request(path, { method: "DELETE", key: tokens.access_token }), {
      status: 403,
      code: "insufficient_scope",
    });
    const { key: stranger } = await makeTenant(server.workspace, "clients:manage");
    expectAnswer(await server.request(path, { method: "DELETE", key: stranger }), { status: 404 });
    assert.equal((await server.request(path, { method: "DELETE" })).status, 204);
    expectAnswer(await server.request(path, { method: "DELETE" }), { status: 404, code: "not_found" });
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), invalid);
  });

  test("tokens and sessions survive a restart", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const { key } = server.portico;
    const port = new URL(server.url).port;
    await server.portico.stop();
    server.portico = await Portico.start(server.workspace, { key, env: { PORT: port } });
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    const fields = {
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token,
      client_id: client.clientId,
    };
    assert.equal((await post(server, "/token", fields)).status, 200);
  });
});
