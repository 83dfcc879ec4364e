// The device flow in a real browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as openid from "openid-client";
import { foreignHosts, inChromium } from "../support/chromium.ts";
import { makeClient, makeUser, type User } from "../support/oauth.ts";
import { serve } from "../support/scenario.ts";
import { allow, fillInSignIn } from "./application.ts";

const scope = "openid posts:read";

inChromium("devices", (chromium) => {
  let user: User;
  let config: openid.Configuration;
  const server = serve("sqlite", {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      const words = ["--type", "public", "--grant-types", "device_code", "--scopes", scope.replace(" ", ",")];
      const { clientId } = await makeClient(server, ...words);
      config = await openid.discovery(new URL(`${server.url}/oauth`), clientId, undefined, openid.None(), {
        execute: [openid.allowInsecureRequests],
      });
    },
  });

  test("a user enters the code, compares it, signs in, and the device gets tokens", async () => {
    const device = await openid.initiateDeviceAuthorization(config, { scope });
    await chromium.visit(async (page, seen) => {
      await page.goto(device.verification_uri);
      const code = page.getByLabel("Code shown on your device");
      await code.fill("BBBB-BBBB");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("alert").getByText("No device shows this code").waitFor();
      await code.fill(device.user_code.toLowerCase());
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText(device.user_code, { exact: true }).waitFor();
      await page.getByRole("button", { name: "The codes match" }).click();
      await fillInSignIn(page, user);
      await allow(page);
      await page.getByRole("heading", { name: "Your device is connected" }).waitFor();
      assert.deepEqual(foreignHosts(seen, server.url), []);
    });
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
    assert.equal(tokens.claims()?.sub, user.id);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
  });

  test("if the user cancels, the device gets no access", async () => {
    const device = await openid.initiateDeviceAuthorization(config, { scope });
    await chromium.visit(async (page) => {
      await page.goto(device.verification_uri_complete!);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByText("The device was not connected").waitFor();
    });
    const polled = openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
    await assert.rejects(polled, { error: "access_denied" });
  });
});
