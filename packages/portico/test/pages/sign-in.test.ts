// The authorization code flow in a real browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as openid from "openid-client";
import { type Chromium, foreignHosts, inChromium } from "../support/chromium.ts";
import { makeClient, makeUser, password, type User } from "../support/oauth.ts";
import { serve, type TestServer } from "../support/scenario.ts";
import { type DatabaseName, onEachDatabase } from "../support/server.ts";
import { allow, application, fillInSignIn } from "./application.ts";

const scope = "openid email posts:read";

inChromium("sign-in", (chromium) => {
  onEachDatabase("authorization code", (database) => signIn(chromium, database));
});

function signIn(chromium: Chromium, database: DatabaseName): void {
  let user: User;
  const back = application();
  const elsewhere = application();
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
    },
  });

  test("a user signs in at the second attempt, consents, and the application gets tokens", async () => {
    const { config, url, checks } = await openIdClient(server, back.callback);
    await chromium.visit(async (page, seen) => {
      await page.goto(url.href);
      await fillInSignIn(page, user, "wrong horse battery");
      await page.getByRole("alert").getByText("wrong").waitFor();
      assert.equal(await page.getByLabel("Email address").inputValue(), user.email);
      await fillInSignIn(page, user);
      await page.getByRole("heading", { name: "Planner asks for access" }).waitFor();
      await page.getByText("See posts").waitFor();
      await allow(page);
      const tokens = await openid.authorizationCodeGrant(config, await back.waitForCallback(page), checks);
      assert.equal(tokens.claims()?.sub, user.id);
      assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
      assert.deepEqual(foreignHosts(seen, server.url), [new URL(back.origin).host]);
    });
  });

  test("signing in as another user in the same browser works, and signs the first one out", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Elsewhere");
    const mallory = await makeUser(server, "mallory@example.com", "--tenant", tenant.id);
    const first = await openIdClient(server, back.callback);
    const second = await openIdClient(server, back.callback, "--first-party", "--tenant", tenant.id);
    await chromium.visit(async (page, { faults }) => {
      await page.goto(first.url.href);
      await fillInSignIn(page, user);
      await allow(page);
      const graces = await openid.authorizationCodeGrant(
        first.config,
        await back.waitForCallback(page),
        first.checks,
      );
      await page.goto(second.url.href);
      await fillInSignIn(page, mallory);
      const theirs = await openid.authorizationCodeGrant(
        second.config,
        await back.waitForCallback(page),
        second.checks,
      );
      assert.deepEqual([graces.claims()?.sub, theirs.claims()?.sub], [user.id, mallory.id]);
      assert.deepEqual(faults, []);
      await page.goto(`${server.url}/oauth/sessions`);
      await page.getByText(mallory.email).waitFor();
      const again = await openIdClient(server, back.callback);
      await page.goto(again.url.href);
      await page.getByLabel("Password").waitFor();
    });
  });

  if (database === "postgres") return;

  for (const [fact, words] of [
    ["a user who allows access", []],
    ["a user who signs in to a first-party application", ["--first-party"]],
  ] as const) {
    test(`${fact} arrives, even if the application redirects to another origin`, async () => {
      elsewhere.redirectsTo = `${back.origin}/home`;
      const { url } = await openIdClient(server, elsewhere.callback, ...words);
      await chromium.visit(async (page, { faults }) => {
        await page.goto(url.href);
        await fillInSignIn(page, user);
        if (words.length === 0) await allow(page);
        await page.waitForURL(elsewhere.redirectsTo!);
        assert.deepEqual(faults, []);
      });
    });
  }

  test("a user who denies access is redirected with access_denied", async () => {
    const { config, url, checks } = await openIdClient(server, back.callback);
    await chromium.visit(async (page) => {
      await page.goto(url.href);
      await fillInSignIn(page, user);
      await page.getByRole("button", { name: "Do not allow" }).click();
      const redirect = await back.waitForCallback(page);
      await assert.rejects(openid.authorizationCodeGrant(config, redirect, checks), {
        error: "access_denied",
      });
    });
  });

  test("signing in works without scripts, and by keyboard alone", async () => {
    const { config, url, checks } = await openIdClient(server, back.callback);
    const work: Parameters<Chromium["visit"]>[0] = async (page) => {
      const { keyboard } = page;
      await page.goto(url.href);
      await keyboard.press("Tab");
      await keyboard.type(user.email);
      await keyboard.press("Tab");
      await keyboard.type(password);
      await keyboard.press("Enter");
      await page.getByRole("heading", { name: "Planner asks for access" }).waitFor();
      await keyboard.press("Tab");
      const focused = page.locator(":focus");
      assert.equal(await focused.textContent(), "Allow");
      assert.notEqual(
        await focused.evaluate("getComputedStyle(document.activeElement).outlineStyle"),
        "none",
      );
      await keyboard.press("Enter");
      const tokens = await openid.authorizationCodeGrant(config, await back.waitForCallback(page), checks);
      assert.ok(tokens.access_token);
    };
    await chromium.visit(work, { javaScriptEnabled: false });
  });

  test("a page of another site cannot frame the sign-in page", async () => {
    const { url } = await openIdClient(server, back.callback);
    back.html = `<!DOCTYPE html><title>Trap</title><iframe src="${url.href.replaceAll("&", "&amp;")}"></iframe>`;
    await chromium.visit(async (page, { faults }) => {
      await page.goto(back.origin);
      assert.match(page.frames()[1]!.url(), /^chrome-error:/);
      assert.match(faults.join("\n"), /frame-ancestors|X-Frame-Options/i);
    });
  });
}

/** A confidential client and one authorization request of it. */
async function openIdClient(server: TestServer, redirectUri: string, ...more: string[]) {
  const words = ["--type", "confidential", "--redirect-uri", redirectUri, ...more];
  const { clientId, clientSecret } = await makeClient(
    server,
    ...words,
    "--scopes",
    scope.replaceAll(" ", ","),
  );
  const issuer = new URL(`${server.url}/oauth`);
  const config = await openid.discovery(issuer, clientId, clientSecret, undefined, {
    execute: [openid.allowInsecureRequests],
  });
  const checks = { pkceCodeVerifier: openid.randomPKCECodeVerifier(), expectedState: openid.randomState() };
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state: checks.expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  return { config, url, checks };
}
