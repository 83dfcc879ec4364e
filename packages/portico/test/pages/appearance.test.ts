// The appearance of every page: light and dark, on a phone and a wide screen, for assistive technology, and without
// requests to other origins. With PORTICO_TEST_SHOTS=FOLDER a screenshot of each is stored there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { foreignHosts, inChromium, type Seen, withAuthenticator } from "../support/chromium.ts";
import { emailTo, linkIn } from "../support/emails.ts";
import { authorizeUrl, type CreatedClient, makeClient, makeUser, post, type User } from "../support/oauth.ts";
import { serve } from "../support/scenario.ts";
import { allow, application, fillInSignIn } from "./application.ts";

const variants = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 360].map((width) => ({ colorScheme, width })),
);

inChromium("appearance", (chromium) => {
  let user: User;
  let client: CreatedClient;
  const back = application();
  const scope = "openid profile email offline_access posts:read posts:write";
  // Passkeys require a host name.
  const server = serve("sqlite", {
    env: { HOST: "localhost" },
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      const words = ["--type", "public", "--grant-types", "authorization_code,device_code,refresh_token"];
      const scopes = ["--scopes", scope.replaceAll(" ", ",")];
      client = await makeClient(server, ...words, ...scopes, "--redirect-uri", back.callback);
    },
  });

  const authorizationUrl = (): string =>
    authorizeUrl(server, client, scope, { redirect_uri: back.callback }).url;

  /** Visits pages in one browser; each call of `check` is a test. */
  const walk = (name: string, work: (page: Page, check: Check, seen: Seen) => Promise<void>): void => {
    test(name, (context) =>
      chromium.visit(async (page, seen) => {
        const check: Check = async (shown, script = "'none'") =>
          context.test(shown, async () => assert.deepEqual(await faultsOf(page, seen, shown, script), []));
        await work(page, check, seen);
        const hosts = new Set(foreignHosts(seen, server.url));
        hosts.delete(new URL(back.origin).host);
        assert.deepEqual([...hosts], []);
        // Chromium logs every response with an error status.
        assert.deepEqual(
          seen.faults.filter((fault) => !fault.includes("responded with a status of 4")),
          [],
        );
      }),
    );
  };
  const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name }).click();

  walk("an application requests access", async (page, check) => {
    await page.goto(authorizationUrl());
    await check("sign-in", "'self'");
    await fillInSignIn(page, user, "wrong");
    await check("sign-in, refused", "'self'");
    await fillInSignIn(page, user);
    await check("consent");
    await allow(page);
    await back.waitForCallback(page);
    await page.goto(`${server.url}/oauth/logout`);
    await check("sign out");
    await press(page, "Sign out");
    await check("signed out");
    await page.goto(authorizationUrl().replace("callback", "elsewhere"));
    await check("error");
  });

  walk("a device is connected", async (page, check) => {
    const code = page.getByLabel("Code shown on your device");
    const { body } = await post(server, "/device_authorization", { client_id: client.clientId, scope });
    await page.goto(body.verification_uri);
    await check("device code");
    await code.fill("BBBB-BBBB");
    await press(page, "Continue");
    await check("device code, refused");
    await code.fill(body.user_code);
    await press(page, "Continue");
    await check("device confirmation");
    await press(page, "The codes match");
    await fillInSignIn(page, user);
    await allow(page);
    await check("device connected");
  });

  walk("the account", async (page, check) => {
    await withAuthenticator(page);
    await page.goto(authorizationUrl());
    await fillInSignIn(page, user);
    await allow(page);
    await back.waitForCallback(page);
    await page.goto(`${server.url}/oauth/grants`);
    await check("grants");
    // This also revokes grants from other browsers.
    await press(page, "Revoke access of Planner");
    await check("no grants");
    await page.getByRole("link", { name: "Where you are signed in" }).click();
    await check("sessions");
    await page.getByRole("link", { name: "Passkeys" }).click();
    await check("no passkeys", "'self'");
    await press(page, "Add a passkey");
    await page.getByRole("button", { name: "Remove My passkey" }).waitFor();
    await check("passkeys", "'self'");
    await page.getByRole("link", { name: "Your email address" }).click();
    await check("email address");
    await press(page, "Send a confirmation email");
    await check("email address, mail sent");
    await page.goto(linkIn(await emailTo(server, user.email, "account.email_link")));
    await check("confirm the email address");
    await press(page, "Yes, confirm it");
    await check("email address confirmed");
  });

  walk("a password is forgotten", async (page, check) => {
    await page.goto(authorizationUrl());
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await check("forgotten password");
    await page.getByLabel("Email address").fill(user.email);
    await press(page, "Send the link");
    await check("link sent");
    await page.goto(linkIn(await emailTo(server, user.email, "account.password_link")));
    await check("new password");
    await page.getByLabel("New password").fill("another horse battery");
    await press(page, "Change the password");
    await check("password changed");
  });
});

/** @param script the expected script-src of the page */
type Check = (name: string, script?: "'none'" | "'self'") => Promise<void>;

/** The defects of the current page. */
async function faultsOf(page: Page, seen: Seen, name: string, script: string): Promise<string[]> {
  const faults = await missingHeaders(seen, script);
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of variants) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const variant = `${name}, ${colorScheme}, ${width} px`;
    const folder = process.env.PORTICO_TEST_SHOTS;
    if (folder) await page.screenshot({ path: join(folder, `${variant}.png`), fullPage: true });
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) faults.push(`${variant}: scrolls to ${wide} px`);
    const results = (await page.evaluate("axe.run()")) as AxeResults;
    for (const { id, impact, nodes } of results.violations)
      faults.push(`${variant}: ${impact} ${id} at ${nodes.map(({ html }) => html).join(" ")}`);
  }
  return faults;
}

async function missingHeaders({ requests }: Seen, script: string): Promise<string[]> {
  const shown = requests.findLast((request) => request.isNavigationRequest());
  const headers = (await (await shown?.response())?.allHeaders()) ?? {};
  const policy = headers["content-security-policy"]?.split("; ") ?? [];
  const rules = ["default-src 'none'", `script-src ${script}`, "base-uri 'none'", "frame-ancestors 'none'"];
  const missing = rules.filter((rule) => !policy.includes(rule));
  return headers["x-frame-options"] === "DENY" ? missing : [...missing, "X-Frame-Options"];
}
