// Changes between an authorization request and the use of its tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser, type Shown } from "../../support/browser.ts";
import {
  type AuthorizationRequest,
  authorizeUrl,
  basic,
  type CreatedClient,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  password,
  post,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const every = "openid,email,offline_access,posts:read,posts:write";
/** The time within which a change takes effect. */
const effectiveMs = 1_000;

onEachDatabase("oauth and late changes", (database) => {
  let user: User;
  let resourceServer: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      const words = ["--type", "confidential", "--scopes", "posts:read", "--resource-server"];
      resourceServer = await makeClient(server, ...words);
    },
  });
  const change = async ({ id }: CreatedClient, body: object): Promise<void> => {
    const { status, text } = await server.request(`/v1/oauth-clients/${id}`, { method: "PATCH", body });
    assert.equal(status, 200, text);
  };
  const remove = async (path: string): Promise<void> => {
    assert.equal((await server.request(path, { method: "DELETE" })).status, 204);
  };
  /** The consent page of a new authorization request. */
  const openConsent = async (
    browser: Browser,
    client: CreatedClient,
  ): Promise<AuthorizationRequest & { shown: Shown }> => {
    const authorization = authorizeUrl(server, client, "openid posts:read");
    const shown = await browser.submit(await browser.follow(authorization.url), {
      ...{ email: user.email, password, choice: "sign-in" },
    });
    assert.match(shown.text, /value="allow"/);
    return { ...authorization, shown };
  };
  const redeem = (client: CreatedClient, { verifier }: AuthorizationRequest, code: string) =>
    post(server, "/token", {
      ...{ grant_type: "authorization_code", code, redirect_uri: callback },
      ...{ code_verifier: verifier, client_id: client.clientId },
    });

  for (const [fact, happens] of [
    ["the application is deleted", (client) => remove(`/v1/oauth-clients/${client.id}`)],
    [
      "the redirect URI is removed",
      (client) => change(client, { redirectUris: ["https://new.example.com/callback"] }),
    ],
  ] as [string, (client: CreatedClient) => Promise<void>][]) {
    test(`while the consent page is open, ${fact}: the form gets an error page and no redirect`, async () => {
      const client = await makePublicClient(server, every);
      const browser = new Browser();
      const { shown } = await openConsent(browser, client);
      const signIn = await new Browser().follow(authorizeUrl(server, client, "openid").url);
      await happens(client);
      for (const answer of [
        await browser.send(shown, { choice: "allow" }),
        await browser.send(shown, { choice: "cancel" }),
        await browser.open(shown.url),
        await new Browser().open(signIn.url),
        await new Browser().open(`${signIn.url}/password`),
      ]) {
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.text, /<h1>Something went wrong/);
        assert.equal(answer.location, undefined);
      }
    });
  }

  test("one consent gives one code, however often the browser continues concurrently", async () => {
    const client = await makePublicClient(server, every);
    for (let round = 0; round < 4; round += 1) {
      const browser = new Browser();
      const pending = await openConsent(browser, client);
      const { location } = await browser.send(pending.shown, { choice: "allow" });
      const answers = await Promise.all(Array.from({ length: 10 }, () => browser.open(location!)));
      const codes = answers.flatMap((answer) =>
        new URL(answer.location ?? callback).searchParams.getAll("code"),
      );
      assert.equal(codes.length, 1);
      assert.equal((await redeem(client, pending, codes[0]!)).status, 200);
      const others = answers.filter((answer) => answer.location === undefined);
      assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([400]));
      assert.equal(others.length, 9);
    }
  });

  test("a form that is submitted again gives no second code", async () => {
    const client = await makePublicClient(server, every);
    const browser = new Browser();
    const pending = await openConsent(browser, client);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => browser.submit(pending.shown, { choice: "allow" })),
    );
    const codes = answers.flatMap(({ location }) =>
      new URL(location ?? callback).searchParams.getAll("code"),
    );
    assert.equal(codes.length, 1);
    for (const { status } of answers) assert.ok(status < 500);
  });

  test("an application that is no longer first-party needs consent, despite its earlier grant", async () => {
    const client = await makePublicClient(server, every, "--first-party");
    const browser = new Browser();
    const { url } = authorizeUrl(server, client, "openid posts:read");
    await signInAndAllow(browser, url, user);
    assert.ok((await browser.follow(url)).location?.startsWith(callback));
    await change(client, { requiresConsent: true });
    assert.match((await browser.follow(url)).text, /value="allow"/);
  });

  test("scopes that a client loses are removed from introspection and userinfo", async () => {
    const client = await makePublicClient(server, every);
    const scope = "openid email offline_access posts:read posts:write";
    const { access_token: token } = await obtainTokens(server, client, user, scope);
    await change(client, { scopes: ["openid", "posts:read"] });
    await sleep(effectiveMs);
    const { body } = await post(server, "/introspect", { token }, basic(resourceServer));
    assert.deepEqual([body.active, body.scope], [true, "openid posts:read"]);
    const userinfo = await server.request("/oauth/userinfo", { key: token });
    assert.deepEqual([userinfo.status, userinfo.body], [200, { sub: user.id }]);
  });

  test("tokens of a deleted user are invalid", async () => {
    const deleted = await makeUser(server, "deleted@example.com");
    const client = await makePublicClient(server, every);
    const tokens = await obtainTokens(server, client, deleted, "openid offline_access posts:read");
    await remove(`/users/${deleted.id}`);
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const { body } = await post(server, "/introspect", { token }, basic(resourceServer));
      assert.deepEqual(body, { active: false });
    }
    const again = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    refused(await post(server, "/token", { ...again, client_id: client.clientId }), "invalid_grant");
  });
});
