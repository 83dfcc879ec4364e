// Attacks on the pages of the authorization server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  makeUser,
  neutral,
  password,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";

onEachDatabase("oauth: attacks on pages", (database) => {
  let user: User;
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, every);
    },
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
});
