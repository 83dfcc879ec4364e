// GraphiQL in a real browser: a developer opens /graphql, enters a key, runs a query and subscribes.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { foreignHosts, inChromium } from "../support/chromium.ts";
import { serve } from "../support/scenario.ts";

/** Faults of GraphiQL itself: the contrast of its name and line numbers, and tabs that contain buttons. */
const ofGraphiql = ["color-contrast", "nested-interactive"];

inChromium("GraphiQL", (chromium) => {
  const server = serve("sqlite");

  test("a query runs with the entered key, and a subscription shows events", () =>
    chromium.visit(
      async (page, seen) => {
        const folder = process.env.PORTICO_TEST_SHOTS;
        await server.create("/posts", { title: "Queried in GraphiQL" });
        await page.goto(`${server.url}/graphql`);
        await page.getByLabel("API key or access token").fill("sk_test_wrong");
        await page.getByRole("button", { name: "Open" }).click();
        await page.getByText("The credential is unknown, expired or revoked.").waitFor();
        assert.equal(await page.getByRole("textbox").count(), 1, "there is one field");
        if (folder) await page.screenshot({ path: join(folder, "graphiql-key.png") });
        await page.getByLabel("API key or access token").fill(server.portico.key);
        await page.getByRole("button", { name: "Open" }).click();
        await write(page, "Operation Editor", "{ posts(limit: 1) { title author { name } } }");
        await run(page);
        await shown(page, "Queried in GraphiQL");
        await shown(page, "Ada Lovelace");
        if (folder) await page.screenshot({ path: join(folder, "graphiql.png") });

        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
        const severe = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(
          severe.map(({ id }) => id).filter((id) => !ofGraphiql.includes(id)),
          [],
        );

        await write(page, "Operation Editor", "subscription { postCreated { title } }");
        await run(page);
        // The protocol does not report that a subscription has started.
        for (let count = 0; count < 20; count += 1) {
          await server.create("/posts", { title: "Created in GraphiQL" });
          if (await resultOf(page).then((text) => text.includes("Created in GraphiQL"))) break;
          await page.waitForTimeout(200);
        }
        await shown(page, "Created in GraphiQL");

        assert.deepEqual(foreignHosts(seen, server.url), []);
        const workers = page.workers().map((worker) => new URL(worker.url()).pathname);
        assert.ok(workers.some((path) => /^\/graphql\/files\/graphql-worker\./.test(path)));
        assert.ok(workers.every((path) => path.startsWith("/graphql/files/")));
        // The wrong key was refused.
        assert.deepEqual(
          seen.faults.filter((fault) => !fault.includes("responded with a status of 401")),
          [],
        );
      },
      { viewport: { width: 1280, height: 800 } },
    ));
});

/** Replaces the text of an editor, and deletes the closing brackets that the editor adds. */
async function write(page: Page, region: string, text: string): Promise<void> {
  await page.getByRole("region", { name: region }).locator(".view-lines:visible").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
  await page.keyboard.press("ControlOrMeta+Shift+End");
  await page.keyboard.press("Delete");
}

async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Execute query/ }).click();
}

/** The editor contains no-break spaces. */
async function resultOf(page: Page): Promise<string> {
  const text = await page.getByRole("region", { name: "Result Window" }).innerText();
  return text.replaceAll("\u00A0", " ");
}

async function shown(page: Page, text: string): Promise<void> {
  for (const until = Date.now() + 10_000; Date.now() < until; await page.waitForTimeout(50))
    if ((await resultOf(page)).includes(text)) return;
  assert.fail(`the result does not show ${text}: ${await resultOf(page)}`);
}
