// Passkeys in Chromium with a virtual authenticator.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { inChromium, withAuthenticator } from "../support/chromium.ts";
import { authorizeUrl, type CreatedClient, makeClient, makeUser, type User } from "../support/oauth.ts";
import { serve } from "../support/scenario.ts";
import { onEachDatabase } from "../support/server.ts";
import { allow, application, fillInSignIn } from "./application.ts";

inChromium("passkeys", (chromium) => {
  onEachDatabase("passkeys", (database) => {
    let user: User;
    let client: CreatedClient;
    const back = application();
    // Passkeys require a host name.
    const server = serve(database, {
      env: { HOST: "localhost" },
      prepare: async (server) => {
        user = await makeUser(server, "grace@example.com");
        client = await makeClient(server, "--type", "public", "--redirect-uri", back.callback);
      },
    });
    const openSignIn = (page: Page) =>
      page.goto(authorizeUrl(server, client, "openid", { redirect_uri: back.callback }).url);
    const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

    test("a user adds a passkey, and signs in with it alone", () =>
      chromium.visit(async (page) => {
        const device = await withAuthenticator(page);
        await openSignIn(page);
        await fillInSignIn(page, user);
        await allow(page);
        await back.waitForCallback(page);
        await page.goto(`${server.url}/oauth/passkeys`);
        await page.getByLabel("Name of the passkey").fill("Phone");
        await press(page, "Add a passkey");
        await page.getByRole("heading", { name: "Phone" }).waitFor();
        assert.equal(await device.countCredentials(), 1);

        await page.goto(`${server.url}/oauth/logout`);
        await press(page, "Sign out");
        await openSignIn(page);
        // Without user verification the passkey is refused.
        await device.setUserVerified(false);
        await press(page, "Sign in with a passkey");
        await page.getByRole("alert").getByText("That did not work").waitFor();
        await device.setUserVerified(true);
        await press(page, "Sign in with a passkey");
        await allow(page);
        assert.ok((await back.waitForCallback(page)).searchParams.get("code"));

        await page.goto(`${server.url}/oauth/passkeys`);
        await press(page, "Remove Phone");
        await page.getByRole("heading", { name: "Phone" }).waitFor({ state: "detached" });
        await page.goto(`${server.url}/oauth/logout`);
        await press(page, "Sign out");
        await openSignIn(page);
        await press(page, "Sign in with a passkey");
        await page.getByRole("alert").waitFor();
        assert.ok(!page.url().startsWith(back.callback));
      }));
  });
});
