// Roles and OAuth: what a person may grant, and what the tokens of a demoted or deactivated person may do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted, withStream } from "../../support/graphql/subscriptions.ts";
import {
  authorizeUrl,
  basic,
  makeClient,
  makePublicClient,
  makeUser,
  neutral,
  obtainTokens,
  password,
  post,
  redirectOf,
  refused,
  signInAndAllow,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const scope = "openid offline_access posts:read keys:read";
/** Longer than the status of an access token is reused. */
const statusTtlMs = 600;

onEachDatabase("roles and OAuth", (database) => {
  const server = serve(database);
  let users = 0;
  const newUser = (...words: string[]) => {
    users += 1;
    return makeUser(server, `person${users}@example.com`, ...words);
  };
  const newClient = (...words: string[]) => makePublicClient(server, scope.replaceAll(" ", ","), ...words);
  const patch = async (id: string, body: object): Promise<void> =>
    expectAnswer(await server.request(`/users/${id}`, { method: "PATCH", body }), { status: 200 });
  const keysRead = { status: 403, code: "insufficient_scope", message: /role `member`/ } as const;

  test("the consent page shows only what the role includes, and the rest is not granted", async () => {
    const member = await newUser();
    const client = await newClient();
    const browser = new Browser();
    const request = authorizeUrl(server, client, scope, { prompt: "consent" });
    let shown = await browser.follow(request.url);
    shown = await browser.submit(shown, { email: member.email, password, choice: "sign-in" });
    assert.match(shown.text, /See posts/);
    assert.doesNotMatch(shown.text, /See keys/);
    const redirect = redirectOf(await browser.submit(shown, { choice: "allow" }));
    const code = redirect.searchParams.get("code")!;
    const fields = {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirect.origin + redirect.pathname,
    };
    const { body } = await post(server, "/token", {
      ...fields,
      code_verifier: request.verifier,
      client_id: client.clientId,
    });
    assert.equal(body.scope, "openid offline_access posts:read");
    expectAnswer(await server.request("/posts", { key: body.access_token }), { status: 200 });
    expectAnswer(await server.request("/v1/api-keys", { key: body.access_token }), { status: 403 });

    // Nothing is missing, so the person is not asked again, until the role includes the scope.
    const again = await browser.follow(authorizeUrl(server, client, "openid posts:read keys:read").url);
    assert.ok(again.location, again.text);
    await patch(member.id, { role: "owner" });
    const promoted = await browser.follow(authorizeUrl(server, client, "openid posts:read keys:read").url);
    assert.match(promoted.text, /See keys/);
    assert.ok(redirectOf(await browser.submit(promoted, { choice: "allow" })).searchParams.get("code"));
  });

  test("a request for nothing that the role includes is denied", async () => {
    const member = await newUser();
    const client = await newClient();
    const redirect = await signInAndAllow(
      new Browser(),
      authorizeUrl(server, client, "keys:read").url,
      member,
    );
    assert.equal(redirect.searchParams.get("error"), "access_denied", redirect.href);
  });

  test("a token of a client without a consent page has the scopes of the role", async () => {
    const member = await newUser();
    const client = await newClient("--first-party");
    const tokens = await obtainTokens(server, client, member, "openid posts:read keys:read");
    assert.equal(tokens.scope, "openid posts:read");
    await patch(member.id, { role: "owner" });
    const promoted = await obtainTokens(server, client, member, "openid posts:read keys:read");
    assert.equal(promoted.scope, "openid posts:read keys:read");
    expectAnswer(await server.request("/v1/api-keys", { key: promoted.access_token }), { status: 200 });
  });

  test("a demotion counts for access tokens, refresh tokens, introspection and subscriptions", async () => {
    const person = await newUser("--role", "owner");
    const words = ["--type", "confidential", "--redirect-uri", "https://app.example.com/callback"];
    const client = await makeClient(server, ...words, "--scopes", scope.replaceAll(" ", ","));
    const request = authorizeUrl(server, client, scope, { prompt: "consent" });
    const redirect = await signInAndAllow(new Browser(), request.url, person);
    const redeemed = await post(
      server,
      "/token",
      {
        grant_type: "authorization_code",
        code: redirect.searchParams.get("code")!,
        redirect_uri: "https://app.example.com/callback",
        code_verifier: request.verifier,
      },
      basic(client),
    );
    const { access_token: key, refresh_token } = redeemed.body;
    expectAnswer(await server.request("/v1/api-keys", { key }), { status: 200 });
    await withStream(server.portico, "subscription { apiKeyUpdated { id } }", { key }, async (stream) => {
      await subscriptionStarted();
      await patch(person.id, { role: "member" });
      await stream.ended();
    });
    expectAnswer(await server.request("/v1/api-keys", { key }), keysRead);
    const { body } = await requestGraphql(server, "{ apiKeys { id } }", { key });
    assert.equal(body.errors[0].extensions.code, "insufficient_scope");
    expectAnswer(await server.request("/posts", { key }), { status: 200 });
    const introspected = await post(server, "/introspect", { token: key }, basic(client));
    assert.deepEqual(
      [introspected.body.active, introspected.body.scope],
      [true, "openid offline_access posts:read"],
    );
    const ofRefresh = await post(server, "/introspect", { token: refresh_token }, basic(client));
    assert.deepEqual(
      [ofRefresh.body.active, ofRefresh.body.scope],
      [true, "openid offline_access posts:read"],
    );
    const refreshing = { grant_type: "refresh_token", refresh_token };
    const refreshed = await post(server, "/token", refreshing, basic(client));
    assert.equal(refreshed.body.scope, "openid offline_access posts:read");
    await patch(person.id, { role: "owner" });
    const again = { grant_type: "refresh_token", refresh_token: refreshed.body.refresh_token };
    assert.equal((await post(server, "/token", again, basic(client))).body.scope, scope);
  });

  test("a device gets a token with the scopes of the role", async () => {
    const member = await newUser();
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    const words = ["--type", "public", "--grant-types", "device_code", "--scopes", "posts:read,keys:read"];
    const { clientId } = await makeClient(server, ...words);
    const requested = { client_id: clientId, scope: "posts:read keys:read" };
    const { body } = await post(server, "/device_authorization", requested);
    const browser = new Browser();
    const entry = await browser.open(body.verification_uri_complete);
    const confirmation = await browser.submit(entry, { user_code: body.user_code });
    let shown = await browser.submit(confirmation, { confirm: "yes" });
    shown = await browser.submit(shown, { email: member.email, password, choice: "sign-in" });
    assert.match(shown.text, /See posts/);
    assert.doesNotMatch(shown.text, /See keys/);
    await browser.submit(shown, { choice: "allow" });
    const fields = { grant_type: device, device_code: body.device_code, client_id: clientId };
    const tokens = await post(server, "/token", fields);
    assert.equal(tokens.body.scope, "posts:read", tokens.text);
  });

  test("a deactivated person has no tokens and cannot sign in, which the sign-in page does not tell", async () => {
    const person = await newUser();
    const client = await newClient();
    const request = authorizeUrl(server, client, "openid offline_access posts:read", { prompt: "consent" });
    const browser = new Browser();
    const redirect = await signInAndAllow(browser, request.url, person);
    const { body } = await post(server, "/token", {
      grant_type: "authorization_code",
      code: redirect.searchParams.get("code")!,
      redirect_uri: "https://app.example.com/callback",
      code_verifier: request.verifier,
      client_id: client.clientId,
    });
    const { access_token: key, refresh_token } = body;
    expectAnswer(await server.request("/posts", { key }), { status: 200 });
    await withStream(server.portico, "subscription { postCreated { id } }", { key }, async (stream) => {
      await subscriptionStarted();
      await patch(person.id, { active: false });
      await stream.ended();
    });
    await sleep(statusTtlMs);
    expectAnswer(await server.request("/posts", { key }), { status: 401, code: "invalid_credential" });
    const fields = { grant_type: "refresh_token", refresh_token, client_id: client.clientId };
    refused(await post(server, "/token", fields), "invalid_grant");
    const attempt = async (email: string) => {
      const other = new Browser();
      const page = await other.follow(authorizeUrl(server, client, "openid posts:read").url);
      return other.submit(page, { email, password, choice: "sign-in" });
    };
    const [deactivated, unknown] = [await attempt(person.email), await attempt("unknown@example.com")];
    assert.equal(deactivated.status, 401);
    assert.equal(
      neutral(deactivated.text).replaceAll(person.email, "unknown@example.com"),
      neutral(unknown.text),
    );
    const signedOut = await browser.follow(authorizeUrl(server, client, "openid posts:read").url);
    assert.match(signedOut.text, /name="password"/);
    await patch(person.id, { active: true });
    refused(await post(server, "/token", fields), "invalid_grant");
    expectAnswer(await server.request("/posts", { key }), { status: 401 });
    assert.ok(
      (await signInAndAllow(browser, authorizeUrl(server, client, "openid posts:read").url, person)).href,
    );
  });
});
