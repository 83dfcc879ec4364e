// Links in emails: resetting a password and confirming an address.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser, type Shown } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import { emailsTo, emailTo, linkIn } from "../../support/emails.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  makeUser,
  neutral,
  obtainTokens,
  password,
  post,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const other = "another battery entirely";
const scope = "openid email offline_access posts:read";
const resetKind = "account.password_link";

onEachDatabase("oauth by email", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      client = await makePublicClient(server, scope.replaceAll(" ", ","));
    },
  });
  const signInPage = async (browser: Browser): Promise<Shown> =>
    browser.follow(authorizeUrl(server, client, scope).url);
  /** The page for requesting a password link. */
  const passwordLinkPage = async (browser = new Browser()): Promise<[Browser, Shown]> => {
    const { text } = await signInPage(browser);
    const [, path] = /<a href="([^"]+)">Forgot your password\?<\/a>/.exec(text) ?? [];
    return [browser, await browser.open(new URL(path!, server.url).href)];
  };
  const requestPasswordLink = async (email: string): Promise<Shown> => {
    const [browser, page] = await passwordLinkPage();
    return browser.submit(page, { email });
  };
  const linkFor = async (email: string, count = 1): Promise<string> => {
    assert.equal((await requestPasswordLink(email)).status, 200);
    return linkIn(await emailTo(server, email, resetKind, count));
  };
  const change = async (link: string, chosen: string): Promise<Shown> => {
    const browser = new Browser();
    return browser.submit(await browser.open(link), { password: chosen });
  };
  const canSignIn = async ({ email }: User, presented: string): Promise<boolean> => {
    const browser = new Browser();
    const shown = await browser.submit(await signInPage(browser), {
      email,
      password: presented,
      choice: "sign-in",
    });
    return shown.status === 200;
  };

  test("a user resets a forgotten password, and the old one is refused", async () => {
    const user = await makeUser(server, "forgetful@example.com");
    const link = await linkFor(user.email);
    assert.equal((await change(link, "short")).status, 422);
    const changed = await change(link, other);
    assert.equal(changed.status, 200);
    assert.match(changed.text, /Your password was changed/);
    assert.equal(await canSignIn(user, password), false);
    assert.equal(await canSignIn(user, other), true);
    assert.match((await emailTo(server, user.email, "account.password_changed")).text, /new password/);
    const claims = JSON.parse(
      Buffer.from((await tokensOf(user, other)).id_token.split(".")[1], "base64url").toString(),
    );
    assert.equal(claims.email_verified, true);
  });

  test("a link works once: of ten concurrent uses one succeeds", async () => {
    const user = await makeUser(server, "once@example.com");
    const link = await linkFor(user.email);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => change(link, `${other} ${index}`)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(9).fill(400)]);
    assert.equal((await new Browser().open(link)).status, 400);
    assert.equal((await emailsTo(server, user.email, "account.password_changed")).length, 1);
  });

  test("a reset ends everything: sessions, refresh tokens, access tokens, other links, a pending sign-in", async () => {
    const user = await makeUser(server, "thorough@example.com");
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, scope).url, user);
    assert.equal((await browser.open(`${server.url}/oauth/account`)).status, 200);
    const tokens = await tokensOf(user, password);
    const first = await linkFor(user.email);
    const second = await linkFor(user.email, 2);
    const pendingBrowser = new Browser();
    const half = await pendingBrowser.send(await signInPage(pendingBrowser), {
      email: user.email,
      password,
      choice: "sign-in",
    });
    assert.equal(half.status, 303);

    assert.equal((await change(second, other)).status, 200);
    assert.equal((await change(first, password)).status, 400);
    assert.equal((await browser.open(`${server.url}/oauth/account`)).status, 401);
    assert.match((await browser.follow(authorizeUrl(server, client, scope).url)).text, /name="password"/);
    assert.equal((await pendingBrowser.open(half.location!)).status, 400);
    const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    refused(await post(server, "/token", { ...refresh, client_id: client.clientId }), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), {
      status: 401,
      code: "invalid_credential",
    });
  });

  test("unknown addresses, and those of another tenant, get the same response and no email", async () => {
    await makeTenant(server.workspace);
    const user = await makeUser(server, "known@example.com");
    const answers = [];
    for (const email of [user.email, "nobody@example.com", "grace@example.com"])
      answers.push(await requestPasswordLink(email));
    await emailTo(server, user.email, resetKind);
    const [known, ...unknown] = answers.map(({ text, status }) => [status, neutral(text)]);
    for (const answer of unknown) assert.deepEqual(answer, known);
    for (const email of ["nobody@example.com", "grace@example.com"])
      assert.deepEqual(await emailsTo(server, email, resetKind), []);
  });

  test("an account gets at most three emails in fifteen minutes", async () => {
    const statuses = [];
    for (const email of ["often@example.com", "Often@example.com", " often@example.com", "often@example.com"])
      statuses.push((await requestPasswordLink(email)).status);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
    assert.ok(Number((await requestPasswordLink("often@example.com")).headers.get("retry-after")) > 0);
  });

  test("a link that was sent to a previous address is invalid", async () => {
    const user = await makeUser(server, "moving@example.com");
    const link = await linkFor(user.email);
    const moved = { method: "PATCH", body: { email: "moved@example.com" } };
    assert.equal((await server.request(`/users/${user.id}`, moved)).status, 200);
    assert.equal((await change(link, other)).status, 400);
    assert.equal(await canSignIn({ ...user, email: "moved@example.com" }, password), true);
  });

  test("unknown links, and forms of other sites, are refused", async () => {
    const user = await makeUser(server, "forged@example.com");
    const link = await linkFor(user.email);
    for (const token of ["", "x", "A".repeat(43), `${new URL(link).searchParams.get("token")}x`, "\u0000"]) {
      const url = `${server.url}/oauth/password?token=${encodeURIComponent(token)}`;
      assert.equal((await new Browser().open(url)).status, 400, token);
      const body = new URLSearchParams({ token, password: other });
      const sent = await new Browser().open(`${server.url}/oauth/password`, { method: "POST", body });
      assert.equal(sent.status, 400, token);
    }
    const body = new URLSearchParams({ token: new URL(link).searchParams.get("token")!, password: other });
    const headers = { "sec-fetch-site": "cross-site" };
    const sent = await new Browser().open(`${server.url}/oauth/password`, { method: "POST", body, headers });
    assert.equal(sent.status, 403);
    const [browser, page] = await passwordLinkPage();
    const forged = { ...page, text: page.text.replace(/name="csrf" value="[^"]+"/, 'name="csrf" value="x"') };
    assert.equal((await browser.send(forged, { email: user.email })).status, 403);
    const wrongPurpose = link.replace("/password?", "/email?");
    assert.equal((await new Browser().open(wrongPurpose)).status, 400);
  });

  test("a user confirms an address, which does not confirm a later one", async () => {
    const user = await makeUser(server, "confirming@example.com");
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, scope).url, user);
    const account = await browser.open(`${server.url}/oauth/account`);
    assert.match(account.text, /not confirmed yet/);
    const sent = await browser.submit(account, {});
    assert.match(sent.text, /We have sent you an email/);
    const link = linkIn(await emailTo(server, user.email, "account.email_link"));
    const page = await new Browser().open(link);
    assert.ok(page.text.includes(user.email));
    assert.match((await new Browser().submit(page, {})).text, /Your address is confirmed/);
    assert.equal((await new Browser().open(link)).status, 400);
    assert.match((await browser.open(`${server.url}/oauth/account`)).text, /Your address is confirmed/);
    const verified = async () => {
      const { access_token: key } = await tokensOf(user, password);
      return (await server.request("/oauth/userinfo", { key })).body.email_verified;
    };
    assert.equal(await verified(), true);
    const moved = { method: "PATCH", body: { email: "elsewhere@example.com" } };
    assert.equal((await server.request(`/users/${user.id}`, moved)).status, 200);
    Object.assign(user, { email: "elsewhere@example.com" });
    assert.equal(await verified(), false);
  });

  test("the token of a link is in its email only, not in the records or the log", async () => {
    const user = await makeUser(server, "secret@example.com");
    const link = await linkFor(user.email);
    await new Browser().open(link);
    const token = new URL(link).searchParams.get("token")!;
    const reader = openReader(server.workspace.databaseUrl);
    try {
      assert.ok(!JSON.stringify(await reader.rows("select * from oauth_records")).includes(token));
    } finally {
      await reader.close();
    }
    await sleep(500);
    assert.ok(!server.portico.output.includes(token));
  });

  const tokensOf = async (user: User, presented: string) =>
    obtainTokens(server, client, user, scope, presented);
});
