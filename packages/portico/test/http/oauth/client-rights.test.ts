// Changes of a client take effect immediately, and no caller gains scopes through a client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import {
  authorizeUrl,
  basic,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  password,
  post,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const path = "/v1/oauth-clients";
const offline = "openid offline_access posts:read posts:write";
/** How long the status of a client is cached. */
const soonMs = 1_000;

onEachDatabase("rights of oauth clients", (database) => {
  let user: User;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
    },
  });
  const machine = (scopes: string) => makeClient(server, "--type", "confidential", "--scopes", scopes);
  const granted = { grant_type: "client_credentials" };

  test("a caller who lacks a scope of a client can neither rotate its secret nor change it", async () => {
    const { id } = await machine("posts:write,users:write");
    const { key } = await server.command(
      "key",
      "create",
      "--name",
      "C",
      "--scopes",
      "clients:manage,clients:read",
    );
    const insufficientScope = { status: 403, code: "insufficient_scope", message: /posts:write/ } as const;
    expectAnswer(
      await server.request(`${path}/${id}/rotations`, { method: "POST", key, body: {} }),
      insufficientScope,
    );
    for (const body of [
      { redirectUris: ["https://thief.example/cb"] },
      { requiresConsent: false },
      { mayIntrospect: true },
      { scopes: [] },
      { name: "Other" },
    ])
      expectAnswer(await server.request(`${path}/${id}`, { method: "PATCH", key, body }), insufficientScope);
    const { body } = await requestGraphql(server, `mutation { rotateOAuthClient(id: "${id}") { id } }`, {
      key,
    });
    assert.equal(body.errors[0].extensions.code, "insufficient_scope");
  });

  test("a rotation without overlap ends every older secret, whatever overlap it had", async () => {
    const first = await machine("posts:read");
    const rotate = (overlapSeconds: number) =>
      server.create(`${path}/${first.id}/rotations`, { overlapSeconds });
    const second = await rotate(86_400);
    const third = await rotate(86_400);
    const statusOf = async (clientSecret: string): Promise<number> =>
      (await post(server, "/token", granted, basic({ ...first, clientSecret }))).status;
    const secrets = [first.clientSecret!, second.clientSecret, third.clientSecret];
    assert.deepEqual(await Promise.all(secrets.map(statusOf)), [200, 200, 200]);
    const last = await rotate(0);
    assert.deepEqual(await Promise.all([...secrets, last.clientSecret].map(statusOf)), [401, 401, 401, 200]);
  });

  test("a scope that a client loses is removed from its tokens, and refreshing does not restore it", async () => {
    const client = await makePublicClient(server, offline.replaceAll(" ", ","));
    const tokens = await obtainTokens(server, client, user, offline);
    const write = (key: string) => server.request("/posts", { key, body: { title: "x" } });
    assert.equal((await write(tokens.access_token)).status, 201);
    const scopes = ["openid", "offline_access", "posts:read"];
    const change = { method: "PATCH", body: { scopes } };
    expectAnswer(await server.request(`${path}/${client.id}`, change), { status: 200 });
    await sleep(soonMs);
    expectAnswer(await write(tokens.access_token), { status: 403, code: "insufficient_scope" });
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    const { refresh_token } = tokens;
    const fields = { grant_type: "refresh_token", refresh_token, client_id: client.clientId };
    const { body } = await post(server, "/token", fields);
    assert.deepEqual(body.scope.split(" ").sort(), [...scopes].sort());
    expectAnswer(await write(body.access_token), { status: 403, code: "insufficient_scope" });
  });

  test("a client that requests no scope gets all of its own, and is the subject of its token", async () => {
    const client = await machine("posts:read,users:read");
    const { body } = await post(server, "/token", granted, basic(client));
    assert.deepEqual(body.scope.split(" ").sort(), ["posts:read", "users:read"]);
    const seen = await post(server, "/introspect", { token: body.access_token }, basic(client));
    assert.deepEqual([seen.body.active, seen.body.sub], [true, client.clientId]);
  });

  test("a token has one valid encoding", async () => {
    const { body } = await post(server, "/token", granted, basic(await machine("posts:read")));
    const token: string = body.access_token;
    assert.equal((await server.request("/posts", { key: token })).status, 200);
    // The last of 86 characters has four unused bits.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const other = alphabet[alphabet.indexOf(token.at(-1)!) ^ 1];
    for (const altered of [`${token}!!`, `${token}=`, `${token}==`, `${token.slice(0, -1)}${other}`])
      assert.equal((await server.request("/posts", { key: altered })).status, 401, altered.slice(-5));
  });

  test("offline access needs consent, with prompt=login too", async () => {
    const client = await makePublicClient(server, offline.replaceAll(" ", ","));
    const { url, verifier } = authorizeUrl(server, client, offline, { prompt: "login" });
    const back = await signInAndAllow(new Browser(), url, user);
    const { body } = await post(server, "/token", {
      grant_type: "authorization_code",
      code: back.searchParams.get("code")!,
      redirect_uri: callback,
      code_verifier: verifier,
      client_id: client.clientId,
    });
    assert.ok(body.refresh_token);
    assert.ok(body.scope.includes("offline_access"));
  });

  test("offline access of a first-party application needs no consent", async () => {
    const { clientId } = await makePublicClient(server, offline.replaceAll(" ", ","), "--first-party");
    const { url } = authorizeUrl(server, { id: "", clientId }, offline);
    const browser = new Browser();
    const shown = await browser.follow(url);
    const back = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
    assert.ok(new URL(back.location!).searchParams.has("code"), back.text);
  });
});
