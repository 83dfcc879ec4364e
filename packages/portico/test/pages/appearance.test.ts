// How every page looks to people: in light and dark, on a phone and a wide screen, to assistive technology, and whether
// it keeps to itself. With PORTICO_TEST_SHOTS=FOLDER a picture of each is kept there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { foreignHosts, inChromium, type Seen } from "../chromium.ts";
import { authorizeUrl, makeClient, makePerson, type OAuthClientMade, type Person, post } from "../oauth.ts";
import { serve } from "../scenario.ts";
import { allow, application, fillInSignIn } from "./application.ts";

const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 360].map((width) => ({ colorScheme, width })),
);

inChromium("appearance", (chromium) => {
  let person: Person;
  let client: OAuthClientMade;
  const back = application();
  const scope = "openid profile email offline_access posts:read posts:write";
  const served = serve("sqlite", {
    prepare: async (made) => {
      person = await makePerson(made, "grace@example.com");
      const words = ["--type", "public", "--grant-types", "authorization_code,device_code,refresh_token"];
      const scopes = ["--scopes", scope.replaceAll(" ", ",")];
      client = await makeClient(made, ...words, ...scopes, "--redirect-uri", back.callback);
    },
  });

  test("every page", (context) =>
    chromium.visit(async (page, seen) => {
      const look = (name: string): Promise<void> =>
        context.test(name, async () => assert.deepEqual(await faultsOf(page, seen, name), []));
      const press = (name: string): Promise<void> => page.getByRole("button", { name }).click();
      const code = page.getByLabel("The code that your device shows");
      const { url } = authorizeUrl(served, client, scope, { redirect_uri: back.callback });

      await page.goto(url);
      await look("sign-in");
      await fillInSignIn(page, person, "wrong");
      await look("sign-in, refused");
      await fillInSignIn(page, person);
      await look("consent");
      await allow(page);
      await back.comeBack(page);
      await page.goto(`${served.url}/oauth/grants`);
      await look("grants");
      await press("Withdraw");
      await look("no grants");

      const { body } = await post(served, "/device_authorization", { client_id: client.clientId, scope });
      await page.goto(body.verification_uri);
      await look("device code");
      await code.fill("BBBB-BBBB");
      await press("Continue");
      await look("device code, refused");
      await code.fill(body.user_code);
      await press("Continue");
      await look("device confirmation");
      await press("It shows this code");
      await allow(page);
      await look("device connected");

      await page.goto(`${served.url}/oauth/logout`);
      await look("sign out");
      await press("Sign out");
      await look("signed out");
      await page.goto(url.replace("callback", "elsewhere"));
      await look("error");

      assert.deepEqual(foreignHosts(seen, served.url), [new URL(back.origin).host]);
      // Chromium complains of every answer from 400 on.
      assert.deepEqual(
        seen.faults.filter((fault) => !fault.includes("responded with a status of 4")),
        [],
      );
    }));
});

/** What is wrong with the page that is shown. */
async function faultsOf(page: Page, seen: Seen, name: string): Promise<string[]> {
  const faults = await missingHeaders(seen);
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const look = `${name}, ${colorScheme}, ${width} px`;
    const folder = process.env.PORTICO_TEST_SHOTS;
    if (folder) await page.screenshot({ path: join(folder, `${look}.png`), fullPage: true });
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) faults.push(`${look}: scrolls to ${wide} px`);
    const found = (await page.evaluate("axe.run()")) as AxeResults;
    for (const { id, impact, nodes } of found.violations)
      faults.push(`${look}: ${impact} ${id} at ${nodes.map(({ html }) => html).join(" ")}`);
  }
  return faults;
}

async function missingHeaders({ requests }: Seen): Promise<string[]> {
  const shown = requests.findLast((request) => request.isNavigationRequest());
  const headers = (await (await shown?.response())?.allHeaders()) ?? {};
  const policy = headers["content-security-policy"]?.split("; ") ?? [];
  const rules = ["default-src 'none'", "script-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"];
  const missing = rules.filter((rule) => !policy.includes(rule));
  return headers["x-frame-options"] === "DENY" ? missing : [...missing, "X-Frame-Options"];
}
