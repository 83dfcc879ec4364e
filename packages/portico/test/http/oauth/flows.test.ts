// The flows of OAuth 2.0 and OpenID Connect, run by published client libraries.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  basic,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  post,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const insecure = { [oauth.allowInsecureRequests]: true };

onEachDatabase("oauth flows", (database) => {
  let user: User;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
    },
  });

  const discovered = async (): Promise<oauth.AuthorizationServer> => {
    const issuer = new URL(`${server.url}/oauth`);
    return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  };

  test("a single-page application signs a user in, reads their data, and refreshes its tokens", async () => {
    const scope = "openid profile email offline_access posts:read posts:write";
    const { clientId } = await makePublicClient(server, scope.replaceAll(" ", ","));
    const client: oauth.Client = { client_id: clientId };
    const issuer = await discovered();
    const verifier = oauth.generateRandomCodeVerifier();
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const url = new URL(issuer.authorization_endpoint!);
    url.search = new URLSearchParams({
      ...{ client_id: clientId, redirect_uri: callback, response_type: "code", scope, state, nonce },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    }).toString();
    const redirect = await signInAndAllow(new Browser(), url.href, user);
    const parameters = oauth.validateAuthResponse(issuer, client, redirect, state);
    assert.equal(redirect.searchParams.get("iss"), issuer.issuer);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([issuer, client, oauth.None(), parameters, callback, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(issuer, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    const claims = oauth.getValidatedIdTokenClaims(tokens)!;
    assert.deepEqual(
      [claims.iss, claims.sub, claims.aud, claims.nonce, claims["email"], claims["email_verified"]],
      [issuer.issuer, user.id, clientId, nonce, user.email, false],
    );
    assert.equal(claims.exp - claims.iat, 600);
    assert.equal(tokens.expires_in, 600);

    const created = await server.request("/posts", { key: tokens.access_token, body: { title: "Mine" } });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body.authorId, user.id);
    assert.equal((await server.request("/users", { key: tokens.access_token })).status, 403);

    const info = await oauth.userInfoRequest(issuer, client, tokens.access_token, insecure);
    const profile = await oauth.processUserInfoResponse(issuer, client, user.id, info);
    assert.deepEqual([profile["name"], profile.email], ["Grace Hopper", user.email]);

    const refreshing = await oauth.refreshTokenGrantRequest(
      ...([issuer, client, oauth.None(), tokens.refresh_token!, insecure] as const),
    );
    const refreshed = await oauth.processRefreshTokenResponse(issuer, client, refreshing);
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
    assert.equal((await server.request("/posts", { key: refreshed.access_token })).status, 200);
  });

  test("a server-side application does the same with its secret", async () => {
    const words = [
      "--type",
      "confidential",
      "--redirect-uri",
      callback,
      "--scopes",
      "openid,email,posts:read",
    ];
    const { clientId, clientSecret } = await makeClient(server, ...words);
    const config = await openid.discovery(
      new URL(`${server.url}/oauth`),
      clientId,
      undefined,
      openid.ClientSecretBasic(clientSecret),
      { execute: [openid.allowInsecureRequests] },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      scope: "openid email posts:read",
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: expectedState,
      nonce: expectedNonce,
    });
    const redirect = await signInAndAllow(new Browser(), url.href, user);
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    const tokens = await openid.authorizationCodeGrant(config, redirect, checks);
    assert.equal(tokens.claims()?.sub, user.id);
    assert.equal(tokens.refresh_token, undefined);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    const seen = await openid.tokenIntrospection(config, tokens.access_token);
    assert.deepEqual([seen.active, seen.sub, seen.scope], [true, user.id, "openid email posts:read"]);
    await openid.tokenRevocation(config, tokens.access_token);
    assert.equal((await openid.tokenIntrospection(config, tokens.access_token)).active, false);
  });

  for (const [name, authentication] of [
    ["client_secret_basic", openid.ClientSecretBasic],
    ["client_secret_post", openid.ClientSecretPost],
  ] as const) {
    test(`a service gets a token for itself by ${name}`, async () => {
      const words = ["--type", "confidential", "--scopes", "posts:read", "--auth-method", name];
      const { clientId, clientSecret } = await makeClient(server, ...words);
      const config = await openid.discovery(
        new URL(`${server.url}/oauth`),
        clientId,
        undefined,
        authentication(clientSecret!),
        { execute: [openid.allowInsecureRequests], algorithm: "oauth2" },
      );
      const tokens = await openid.clientCredentialsGrant(config, { scope: "posts:read" });
      assert.deepEqual([tokens.token_type, tokens.expires_in, tokens.scope], ["bearer", 600, "posts:read"]);
      assert.deepEqual([tokens.refresh_token, tokens.id_token], [undefined, undefined]);
      assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
      const refusal = await server.request("/posts", { key: tokens.access_token, body: { title: "x" } });
      assert.equal(refusal.status, 403);
      assert.match(
        refusal.headers.get("www-authenticate") ?? "",
        /error="insufficient_scope", scope="posts:write"/,
      );
    });
  }

  test("a request with an access token does not count as use of a key", async () => {
    const client = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    const { body } = await post(server, "/token", fields, basic(client));
    const requestId = `token-${client.clientId}`;
    const headers = { "x-request-id": requestId };
    assert.equal((await server.request("/posts", { key: body.access_token, headers })).status, 200);
    const lines = (): Record<string, unknown>[] =>
      server.portico.output
        .split("\n")
        .flatMap((line) => (line.includes(requestId) ? [JSON.parse(line)] : []));
    for (const until = Date.now() + 5_000; Date.now() < until && lines().length === 0; ) await sleep(50);
    assert.deepEqual(
      lines().map(({ msg, keyId, credentialId }) => ({ msg, keyId, credentialId })),
      [{ msg: "request", keyId: undefined, credentialId: client.clientId }],
    );
  });

  test("a service authenticates with a signed assertion", async () => {
    const { publicKey, privateKey } = await crypto.subtle.generateKey(
      { name: "ECDSA", namedCurve: "P-256" },
      true,
      ["sign", "verify"],
    );
    const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
    const jwks = JSON.stringify({ keys: [{ kty, crv, x, y, kid: "one", alg: "ES256" }] });
    const words = ["--type", "confidential", "--scopes", "posts:read", "--auth-method", "private_key_jwt"];
    const { clientId, clientSecret } = await makeClient(server, ...words, "--jwks", jwks);
    assert.equal(clientSecret, undefined);
    const config = await openid.discovery(
      new URL(`${server.url}/oauth`),
      clientId,
      undefined,
      openid.PrivateKeyJwt({ key: privateKey, kid: "one" }),
      { execute: [openid.allowInsecureRequests] },
    );
    const tokens = await openid.clientCredentialsGrant(config, { scope: "posts:read" });
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
  });

  test("a user connects a device on another one", async () => {
    const scope = "openid offline_access posts:read";
    const words = ["--type", "public", "--grant-types", "device_code,refresh_token"];
    const { clientId } = await makeClient(server, ...words, "--scopes", scope.replaceAll(" ", ","));
    const client: oauth.Client = { client_id: clientId };
    const issuer = await discovered();
    const device = await oauth.processDeviceAuthorizationResponse(
      issuer,
      client,
      await oauth.deviceAuthorizationRequest(issuer, client, oauth.None(), { scope }, insecure),
    );
    assert.deepEqual([device.expires_in, device.interval], [600, 5]);
    assert.match(device.user_code, /^[B-Z]{4}-[B-Z]{4}$/);
    assert.equal(device.verification_uri, `${server.url}/oauth/device`);
    const poll = () =>
      oauth.deviceCodeGrantRequest(issuer, client, oauth.None(), device.device_code, insecure);
    const early = await poll();
    assert.deepEqual([early.status, Object(await early.json()).error], [400, "authorization_pending"]);

    const browser = new Browser();
    const entry = await browser.open(device.verification_uri_complete!);
    assert.ok(entry.text.includes(`value="${device.user_code}"`), entry.text);
    const wrong = await browser.submit(entry, { user_code: "BBBB-BBBB" });
    assert.match(wrong.text, /No device shows this code/);
    const confirmation = await browser.submit(wrong, { user_code: device.user_code.toLowerCase() });
    assert.ok(confirmation.text.includes(device.user_code) && confirmation.text.includes("Planner"));
    let shown = await browser.submit(confirmation, { confirm: "yes" });
    shown = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
    shown = await browser.submit(shown, { choice: "allow" });
    assert.match(shown.text, /Your device is connected/);

    const tokens = await oauth.processDeviceCodeResponse(issuer, client, await poll());
    assert.ok(tokens.refresh_token && tokens.id_token);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    const again = await poll();
    assert.deepEqual([again.status, Object(await again.json()).error], [400, "invalid_grant"]);
  });

  test("an application pushes its request and refers to it", async () => {
    const { clientId } = await makePublicClient(server, "openid,posts:read");
    const client: oauth.Client = { client_id: clientId };
    const issuer = await discovered();
    const verifier = oauth.generateRandomCodeVerifier();
    const pushed = await oauth.processPushedAuthorizationResponse(
      issuer,
      client,
      await oauth.pushedAuthorizationRequest(
        issuer,
        client,
        oauth.None(),
        {
          ...{ redirect_uri: callback, response_type: "code", scope: "openid posts:read" },
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        },
        insecure,
      ),
    );
    const url = new URL(issuer.authorization_endpoint!);
    url.search = new URLSearchParams({ client_id: clientId, request_uri: pushed.request_uri }).toString();
    const redirect = await signInAndAllow(new Browser(), url.href, user);
    const parameters = oauth.validateAuthResponse(issuer, client, redirect, oauth.expectNoState);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([issuer, client, oauth.None(), parameters, callback, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(issuer, client, answer);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
  });

  test("a first-party application needs no consent, and signing out ends the session", async () => {
    const { clientId } = await makePublicClient(server, "openid,posts:read", "--first-party");
    const { url } = authorizeUrl(server, { id: "", clientId }, "openid posts:read");
    const browser = new Browser();
    const shown = await browser.follow(url);
    const back = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
    assert.ok(new URL(back.location!).searchParams.has("code"), back.text);
    assert.ok((await browser.follow(url)).location?.startsWith(callback));
    const leaving = await browser.open(`${server.url}/oauth/logout`);
    assert.match(leaving.text, /Sign out of Portico/);
    const left = await browser.submit(leaving, { logout: "yes" });
    assert.match(left.text, /You are signed out/);
    assert.match((await browser.follow(url)).text, /name="password"/);
  });

  test("a new signing key is published first, and the old one still verifies", async () => {
    const words = ["--type", "confidential", "--scopes", "posts:read"];
    const { clientId, clientSecret } = await makeClient(server, ...words);
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    const token = async () =>
      (
        await post(
          server,
          "/token",
          { grant_type: "client_credentials", scope: "posts:read" },
          { authorization },
        )
      ).body.access_token;
    const before = await token();
    const { kid } = await server.command("signing-key", "rotate");
    for (const until = Date.now() + 10_000; Date.now() < until; await sleep(200)) {
      const { body } = await server.request("/oauth/jwks", { key: null });
      if (body.keys.some((key: { kid: string }) => key.kid === kid)) break;
    }
    const { body } = await server.request("/oauth/jwks", { key: null });
    assert.equal(body.keys.length, 2);
    assert.equal(body.keys[1].kid, kid);
    assert.ok(body.keys.every((key: object) => !("d" in key)));
    for (const key of [before, await token()])
      assert.equal((await server.request("/posts", { key })).status, 200);
  });
});
