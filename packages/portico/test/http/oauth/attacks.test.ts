// Attacks on the authorization server, one test for each.

import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import {
  authorizeUrl,
  basic,
  type CreatedClient,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  neutral,
  obtainCode,
  obtainTokens,
  password,
  post,
  redirectOf,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase, Portico, PorticoProcess } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";
const offline = "openid offline_access posts:read";
const invalid = { status: 401, code: "invalid_credential" } as const;

onEachDatabase("oauth attacks", (database) => {
  let user: User;
  let client: CreatedClient;
  let machine: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, every);
      machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    },
  });
  const ask = (changes: Record<string, string | null>, scope = "openid posts:read") =>
    new Browser().open(authorizeUrl(server, client, scope, changes).url);

  for (const [fact, uri] of [
    ["a slash at its end", `${callback}/`],
    ["dots", "https://app.example.com/x/../callback"],
    ["a query", `${callback}?x=1`],
    ["another case", "https://app.example.com/Callback"],
    ["another host", "https://app.example.com.evil.example/callback"],
    ["a user name", "https://app.example.com@evil.example/callback"],
    ["none at all", null],
  ] as const) {
    test(`a redirect URI with ${fact} is an error page, never a redirect`, async () => {
      const shown = await ask({ redirect_uri: uri });
      assert.equal(shown.status, 400);
      assert.equal(shown.location, undefined);
      assert.match(shown.headers.get("content-type") ?? "", /^text\/html/);
      if (uri) assert.ok(!shown.text.includes(uri));
    });
  }

  test("an unknown client is an error page, never a redirect", async () => {
    const shown = await ask({ client_id: "client_01k00000000000000000000000" });
    assert.deepEqual([shown.status, shown.location], [400, undefined]);
  });

  for (const [fact, changes, error] of [
    ["no challenge", { code_challenge: null, code_challenge_method: null }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["response_type token", { response_type: "token" }, "unsupported_response_type"],
    ["response_mode form_post", { response_mode: "form_post" }, "unsupported_response_mode"],
    ["an unknown scope", { scope: "openid posts:fly" }, "invalid_scope"],
    ["a scope that is not the client's", { scope: "openid users:read" }, "invalid_scope"],
    ["an unknown resource", { resource: "https://other.example.com" }, "invalid_target"],
  ] as const) {
    test(`${fact} comes back as ${error}, with the issuer in it`, async () => {
      const shown = await ask(changes);
      const back = redirectOf(shown);
      const answer = new URLSearchParams(back.search || back.hash.slice(1));
      assert.equal(back.origin + back.pathname, callback);
      assert.equal(answer.get("error"), error);
      assert.equal(answer.get("iss"), `${server.url}/oauth`);
      assert.equal(answer.get("code"), null);
    });
  }

  for (const [fact, changes] of [
    ["a wrong verifier", { code_verifier: randomBytes(32).toString("base64url") }],
    ["another redirect URI", { redirect_uri: "https://app.example.com/other" }],
  ] as const) {
    test(`a code with ${fact} is invalid_grant`, async () => {
      const fields = await obtainCode(server, client, user, "openid posts:read");
      refused(await post(server, "/token", { ...fields, ...changes }), "invalid_grant");
    });
  }

  test("a code without its verifier, and of another client, is invalid_grant", async () => {
    const { code_verifier: _, ...fields } = await obtainCode(server, client, user, "openid posts:read");
    refused(await post(server, "/token", fields), "invalid_grant");
    const other = await makePublicClient(server, every);
    const theirs = await obtainCode(server, client, user, "openid posts:read");
    refused(await post(server, "/token", { ...theirs, client_id: other.clientId }), "invalid_grant");
  });

  test("the password grant is not offered", async () => {
    const fields = { grant_type: "password", username: user.email, password, client_id: client.clientId };
    refused(await post(server, "/token", fields), "unsupported_grant_type");
  });

  test("a code that is used again is refused, and its tokens are revoked", async () => {
    const fields = await obtainCode(server, client, user, offline);
    const { body: tokens } = await post(server, "/token", fields);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    refused(await post(server, "/token", fields), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), invalid);
    const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    refused(await post(server, "/token", { ...refresh, client_id: client.clientId }), "invalid_grant");
  });

  test("of fifty concurrent redemptions of a code, at two processes, one succeeds", async () => {
    const { url } = server;
    const other = await PorticoProcess.start(server.workspace, {
      key: server.portico.key,
      env: { AUTH_URL: `${url}/oauth` },
    });
    try {
      const fields = await obtainCode(server, client, user, offline);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => post(index % 2 === 0 ? server : other, "/token", fields)),
      );
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
      for (const answer of answers.filter(({ status }) => status !== 200)) refused(answer, "invalid_grant");
    } finally {
      await other.stop();
    }
  });

  test("an old refresh token is refused, and the newest is revoked too", async () => {
    const { refresh_token: first } = await obtainTokens(server, client, user, offline);
    const refresh = (token: string) =>
      post(server, "/token", {
        grant_type: "refresh_token",
        refresh_token: token,
        client_id: client.clientId,
      });
    const { body: second } = await refresh(first);
    const { body: third } = await refresh(second.refresh_token);
    refused(await refresh(first), "invalid_grant");
    refused(await refresh(third.refresh_token), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: third.access_token }), invalid);
  });

  test("of ten concurrent uses of a refresh token one succeeds", async () => {
    const { refresh_token: token } = await obtainTokens(server, client, user, offline);
    const fields = { grant_type: "refresh_token", refresh_token: token, client_id: client.clientId };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(server, "/token", fields)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) refused(answer, "invalid_grant");
  });

  test("a refresh token cannot extend the scope, and works for its own client only", async () => {
    const { refresh_token: token } = await obtainTokens(server, client, user, offline);
    const fields = { grant_type: "refresh_token", refresh_token: token, client_id: client.clientId };
    refused(await post(server, "/token", { ...fields, scope: "openid posts:write" }), "invalid_scope");
    const { clientId } = await makePublicClient(server, every);
    refused(await post(server, "/token", { ...fields, client_id: clientId }), "invalid_grant");
  });

  test("pages cannot be framed, run no script and load nothing from other origins", async () => {
    const shown = await new Browser().follow(authorizeUrl(server, client, "openid").url);
    const policy = shown.headers.get("content-security-policy") ?? "";
    for (const directive of [
      "default-src 'none'",
      "script-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      assert.ok(policy.includes(directive), policy);
    assert.equal(shown.headers.get("x-frame-options"), "DENY");
    assert.equal(shown.headers.get("referrer-policy"), "no-referrer");
    assert.equal(shown.headers.get("cache-control"), "no-store");
    assert.doesNotMatch(shown.text, /<script|src=|https?:/);
  });

  test("a forged form is refused", async () => {
    const browser = new Browser();
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    const body = new URLSearchParams({ email: user.email, password, choice: "sign-in" });
    assert.equal((await browser.open(shown.url, { method: "POST", body })).status, 403);
    body.set("csrf", "A".repeat(43));
    assert.equal((await browser.open(shown.url, { method: "POST", body })).status, 403);
    const [, csrf = ""] = /name="csrf" value="([^"]+)"/.exec(shown.text) ?? [];
    body.set("csrf", csrf);
    const headers = { "sec-fetch-site": "cross-site" };
    assert.equal((await browser.open(shown.url, { method: "POST", body, headers })).status, 403);
    assert.notEqual((await new Browser().open(shown.url, { method: "POST", body })).status, 303);
    const sent = await browser.open(shown.url, { method: "POST", body });
    assert.equal(sent.status, 303);
  });

  test("an unknown address and a wrong password get the same page", async () => {
    const tryWith = async (email: string) => {
      const browser = new Browser();
      const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
      const sent = await browser.send(shown, { email, password: "wrong wrong wrong", choice: "sign-in" });
      return [sent.status, neutral(sent.text.replaceAll(email, ""))];
    };
    const [known, unknown] = [await tryWith(user.email), await tryWith("nobody@example.com")];
    assert.deepEqual(known, unknown);
    assert.equal(known[0], 401);
  });

  test("a user of another tenant can neither sign in to a client nor use a session there", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Elsewhere");
    const stranger = await makeUser(server, "stranger@example.com", "--tenant", tenant.id);
    const browser = new Browser();
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    const sent = await browser.send(shown, { email: stranger.email, password, choice: "sign-in" });
    assert.equal(sent.status, 401);
    const theirs = await makePublicClient(server, every, "--tenant", tenant.id);
    await signInAndAllow(browser, authorizeUrl(server, theirs, "openid").url, stranger);
    const signInPage = await browser.follow(authorizeUrl(server, client, "openid").url);
    assert.match(signInPage.text, /name="password"/);
  });

  test("a user who denies access is redirected with access_denied", async () => {
    const browser = new Browser();
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    const signedIn = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
    const back = redirectOf(await browser.submit(signedIn, { choice: "cancel" }));
    assert.equal(back.searchParams.get("error"), "access_denied");
    assert.equal(back.searchParams.get("iss"), `${server.url}/oauth`);
  });

  test("Host and forwarding headers have no effect", async () => {
    const headers: Record<string, string> = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example",
    };
    for (const path of [
      "/oauth/.well-known/openid-configuration",
      "/.well-known/oauth-authorization-server/oauth",
    ]) {
      const answer = await server.request(path, { headers, key: null });
      assert.equal(answer.body.issuer, `${server.url}/oauth`);
      assert.ok(!answer.text.includes("evil"), answer.text);
    }
    const shown = await new Browser().open(authorizeUrl(server, client, "openid").url, { headers });
    assert.ok(shown.location?.startsWith(`${server.url}/oauth/`), shown.text);
  });

  test("an unknown client is refused at the token endpoint with an OAuth error", async () => {
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    refused(
      await post(server, "/token", fields, basic({ ...machine, clientSecret: "wrong" })),
      "invalid_client",
      401,
    );
    refused(
      await post(server, "/token", fields, basic({ ...machine, clientId: "client_x" })),
      "invalid_client",
      401,
    );
    refused(await post(server, "/token", { ...fields, client_id: machine.clientId }), "invalid_client", 401);
    const both = { ...fields, client_id: machine.clientId, client_secret: machine.clientSecret! };
    refused(await post(server, "/token", both, basic(machine)), "invalid_request");
    refused(await post(server, "/token", fields), "invalid_client", 401);
    refused(
      await post(server, "/token", { ...fields, scope: "posts:write" }, basic(machine)),
      "invalid_scope",
    );
    refused(await post(server, "/token", { ...fields, scope: "posts:fly" }, basic(machine)), "invalid_scope");
    const html = await post(server, "/token", fields, {
      ...basic({ ...machine, clientSecret: "x" }),
      accept: "text/html",
    });
    refused(html, "invalid_client", 401);
  });

  test("a body that is too large or of another media type is refused with an OAuth error", async () => {
    const large = await post(server, "/token", { grant_type: "x".repeat(100_000) });
    assert.deepEqual([large.status, large.body.error], [413, "invalid_request"]);
    const headers = { "content-type": "application/json" };
    refused(await post(server, "/token", { grant_type: "client_credentials" }, headers), "invalid_request");
  });

  test("client assertions are refused if replayed, for another audience, from the future, too long-lived, unsigned, signed with the public key as a secret, or by an unknown key", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" }] };
    const words = ["--type", "confidential", "--scopes", "posts:read", "--auth-method", "private_key_jwt"];
    const { clientId } = await makeClient(server, ...words, "--jwks", JSON.stringify(jwks));
    const assertion = (
      header: object = {},
      claims: object = {},
      signer = (text: string) =>
        sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }),
    ): string => {
      const now = Math.floor(Date.now() / 1000);
      const standard = {
        iss: clientId,
        sub: clientId,
        aud: `${server.url}/oauth`,
        jti: randomBytes(8).toString("hex"),
      };
      const parts = [
        { alg: "ES256", kid: "one", ...header },
        { ...standard, iat: now, exp: now + 60, ...claims },
      ];
      const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      return `${text}.${signer(text).toString("base64url")}`;
    };
    const send = (text: string) =>
      post(server, "/token", {
        grant_type: "client_credentials",
        scope: "posts:read",
        client_assertion: text,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      });
    const good = assertion();
    assert.equal((await send(good)).status, 200);
    refused(await send(good), "invalid_client", 401);
    const once = assertion();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(once)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    refused(await send(assertion({}, { aud: "https://other.example.com" })), "invalid_client", 401);
    refused(await send(assertion({}, { aud: `${server.url}/oauth/token` })), "invalid_client", 401);
    refused(await send(assertion({ alg: "none" }, {}, () => Buffer.alloc(0))), "invalid_client", 401);
    const pem = publicKey.export({ format: "pem", type: "spki" });
    const hmac = (text: string) => createHmac("sha256", pem).update(text).digest();
    refused(await send(assertion({ alg: "HS256" }, {}, hmac)), "invalid_client", 401);
    refused(await send(assertion({ kid: "two" })), "invalid_client", 401);
    const past = Math.floor(Date.now() / 1000) - 31;
    refused(await send(assertion({}, { exp: past - 1 })), "invalid_client", 401);
    const now = past + 31;
    assert.equal((await send(assertion({}, { iat: now + 20, exp: now + 3_590 }))).status, 200);
    refused(await send(assertion({}, { iat: now + 40 })), "invalid_client", 401);
    refused(await send(assertion({}, { exp: now + 3_700 })), "invalid_client", 401);
  });

  test("ID tokens, refresh tokens and modified access tokens are refused by the API", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const [head, body, signature] = tokens.access_token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const wider = Buffer.from(JSON.stringify({ ...claims, scope: "users:read" })).toString("base64url");
    const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
    for (const key of [
      tokens.id_token,
      tokens.refresh_token,
      `${head}.${wider}.${signature}`,
      `${unsigned}.${body}.`,
      `${head}.${body}.${"A".repeat(86)}`,
      `${tokens.access_token}.x`,
      "eyJ.eyJ.x",
    ])
      expectAnswer(await server.request("/posts", { key }), invalid);
  });

  test("a token in the query, and two credentials at once, are malformed", async () => {
    const { access_token: token } = await obtainTokens(server, client, user, "openid posts:read");
    expectAnswer(await server.request(`/posts?access_token=${token}`, { key: token }), {
      status: 400,
      code: "credential_in_query",
    });
    const headers = { "x-api-key": server.portico.key };
    expectAnswer(await server.request("/posts", { key: token, headers }), {
      status: 400,
      code: "malformed_request",
    });
  });

  test("modified tokens and those of other clients are introspected as inactive", async () => {
    const words = ["--type", "confidential", "--scopes", "posts:read"];
    const [stranger, resourceServer] = [
      await makeClient(server, ...words),
      await makeClient(server, ...words, "--resource-server"),
    ];
    const { body: own } = await post(
      server,
      "/token",
      { grant_type: "client_credentials", scope: "posts:read" },
      basic(machine),
    );
    const introspect = async (by: CreatedClient, token: string) =>
      (await post(server, "/introspect", { token }, basic(by))).body;
    assert.equal((await introspect(machine, own.access_token)).active, true);
    assert.deepEqual(await introspect(stranger, own.access_token), { active: false });
    const seen = await introspect(resourceServer, own.access_token);
    assert.deepEqual([seen.sub, seen.client_id], [machine.clientId, machine.clientId]);
    assert.deepEqual(await introspect(machine, `${own.access_token}x`), { active: false });
    assert.deepEqual(await introspect(machine, "nothing"), { active: false });
    const tokens = await obtainTokens(server, client, user, offline);
    assert.deepEqual(await introspect(resourceServer, tokens.refresh_token), { active: false });
    refused(
      await post(
        server,
        "/introspect",
        { token: own.access_token },
        basic({ ...machine, clientSecret: "x" }),
      ),
      "invalid_client",
      401,
    );
    await post(server, "/revoke", { token: own.access_token }, basic(stranger));
    assert.equal((await introspect(machine, own.access_token)).active, true);
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

  test("an access token gives access to its tenant's rows only", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Other");
    const theirs = await makeClient(
      server,
      "--type",
      "confidential",
      "--scopes",
      "posts:read",
      "--tenant",
      tenant.id,
    );
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    const { body } = await post(server, "/token", fields, basic(theirs));
    const seen = await server.request("/posts", { key: body.access_token });
    assert.deepEqual(seen.body.data, []);
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

  test("password attempts are limited by account, with the correct password too, and other users can sign in", async () => {
    const victim = await makeUser(server, "victim@example.com");
    const tryWith = async (email: string, secret: string) => {
      const browser = new Browser();
      const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
      return browser.send(shown, { email, password: secret, choice: "sign-in" });
    };
    for (let tries = 0; tries < 10; tries += 1)
      assert.equal((await tryWith(victim.email, "wrong wrong")).status, 401);
    const slowed = await tryWith(victim.email.toUpperCase(), password);
    assert.equal(slowed.status, 429);
    assert.match(slowed.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.match(slowed.text, /Too many attempts/);
    for (let tries = 0; tries < 12; tries += 1)
      assert.equal((await tryWith(user.email, password)).status, 303);
  });

  test("attempts at user codes are limited by address", async () => {
    const browser = new Browser();
    let shown = await browser.open(`${server.url}/oauth/device`);
    const statuses: number[] = [];
    for (let tries = 0; tries < 31; tries += 1) {
      const sent = await browser.send(shown, { user_code: "BBBB-BBBB" });
      statuses.push(sent.status);
      if (sent.status === 200) shown = sent;
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [200, 429]);
  });

  test("a device that polls too fast gets slow_down", async () => {
    const words = ["--type", "public", "--grant-types", "device_code", "--scopes", "posts:read"];
    const { clientId } = await makeClient(server, ...words);
    const { body } = await post(server, "/device_authorization", {
      client_id: clientId,
      scope: "posts:read",
    });
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const poll = () =>
      post(server, "/token", { grant_type, device_code: body.device_code, client_id: clientId });
    const errors = [];
    for (let polls = 0; polls < 16; polls += 1) errors.push((await poll()).body.error);
    assert.equal(errors[0], "authorization_pending");
    assert.equal(errors.at(-1), "slow_down");
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

  test("no stored value is a usable secret", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const fields = await obtainCode(server, client, user, "openid");
    const secrets = [tokens.refresh_token, tokens.access_token, fields["code"], machine.clientSecret!];
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const tables = ["oauth_records", "signing_keys", "oauth_clients", "client_secrets", "events"];
      const rows = await Promise.all(tables.map((table) => reader.rows(`select * from ${table}`)));
      const text = JSON.stringify(rows);
      for (const secret of secrets) assert.ok(!text.includes(secret!));
      assert.doesNotMatch(text, /"d":|PRIVATE/);
    } finally {
      await reader.close();
    }
  });
});
