// The reference pages in a real browser: a developer reads, searches, and sends a request, by pointer and by keyboard.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { foreignHosts, inChromium } from "../support/chromium.ts";
import { serve } from "../support/scenario.ts";

const keyField = "API key or access token";

inChromium("reference pages", (chromium) => {
  const server = serve("sqlite");

  test("pages have no defects on a phone and a wide screen, light and dark", () =>
    chromium.visit(async (page, seen) => {
      for (const path of [
        "",
        "/operations/posts",
        "/operations/oauth",
        "/graphql",
        "/webhooks",
        "/schemas",
      ]) {
        await page.goto(`${server.url}/docs${path}`);
        assert.deepEqual(await defectsOf(page, `docs${path.replaceAll("/", "-")}`), [], path);
      }
      assert.deepEqual(foreignHosts(seen, server.url), []);
      assert.deepEqual(seen.faults, []);
    }));

  test("a request is sent with a key that only this page has", () =>
    chromium.visit(
      async (page, seen) => {
        const { key } = server.portico;
        await page.goto(`${server.url}/docs/operations/posts`);
        await page.getByRole("button", { name: "Try it: Create a post" }).click();
        await page.getByLabel(keyField).fill(key);
        await page.getByLabel("Body (application/json)").fill('{ "title": "Sent from the reference" }');
        await page.getByRole("button", { name: "Send POST" }).click();
        await page.getByText(/^201 Created, /).waitFor();
        await page.getByText('"title": "Sent from the reference"').waitFor();
        assert.deepEqual(await defectsOf(page, "docs-form"), []);

        // Another page of the reference still has the key; the document was not left.
        await page.getByRole("button", { name: "Menu" }).click();
        await page.getByRole("navigation").getByRole("link", { name: "Users", exact: true }).click();
        await page.getByRole("heading", { level: 1, name: "Users" }).waitFor();
        await page.getByRole("button", { name: "Try it: List users" }).click();
        assert.equal(await page.getByLabel(keyField).inputValue(), key);
        await page.getByLabel("limit").fill("1");
        await page.getByRole("button", { name: "Send GET" }).click();
        await page.getByText(/^200 OK, /).waitFor();

        const stored = await page.evaluate(
          "JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, location.href])",
        );
        assert.ok(!String(stored).includes(key));
        assert.ok(seen.requests.every((request) => !request.url().includes(key)));
        const sent = seen.requests.filter((request) => request.url().includes("/v1/"));
        assert.equal(sent.length, 2);
        for (const request of sent) assert.equal((await request.allHeaders()).authorization, `Bearer ${key}`);
        await page.reload();
        await page.getByRole("button", { name: "Try it: List users" }).click();
        assert.equal(await page.getByLabel(keyField).inputValue(), "");
        assert.deepEqual(foreignHosts(seen, server.url), []);
        assert.deepEqual(seen.faults, []);
      },
      { viewport: { width: 390, height: 800 } },
    ));

  test("a page whose address has a part that cannot be decoded can be searched", () =>
    chromium.visit(async (page, seen) => {
      await page.goto(`${server.url}/docs/operations/comments#%`);
      await page.getByRole("searchbox").fill("create comment");
      await page.getByRole("link", { name: "Create a comment POST /v1/posts/{parentId}/comments" }).waitFor();
      assert.deepEqual(seen.faults, []);
    }));

  test("the search, the results and the tabs of examples are used by keyboard", () =>
    chromium.visit(async (page, seen) => {
      await page.goto(`${server.url}/docs`);
      await page.keyboard.press("/");
      await page.keyboard.type("create comment");
      await page.getByRole("link", { name: "Create a comment POST /v1/posts/{parentId}/comments" }).waitFor();
      assert.deepEqual(await defectsOf(page, "docs-search"), []);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Comments" }).waitFor();
      assert.equal(await focusedId(page), "createComment");
      assert.equal(new URL(page.url()).hash, "#createComment");

      const tab = page.getByRole("tab", { name: "curl" }).first();
      await tab.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      assert.equal(await focusedId(page), "tab-listComments-Python");
      await page.getByText("import requests").first().waitFor();
      assert.equal(await page.locator(".sample:visible").filter({ hasText: "curl http" }).count(), 0);

      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Portico" }).waitFor();
      await page.goForward();
      await page.getByRole("heading", { level: 1, name: "Comments" }).waitFor();
      // The chosen language is kept.
      await page.getByText("import requests").first().waitFor();
      assert.deepEqual(seen.faults, []);
    }));
});

function focusedId(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement.id");
}

/** What axe finds, and what does not fit the screen. */
async function defectsOf(page: Page, name: string): Promise<string[]> {
  const defects: string[] = [];
  const size = page.viewportSize()!;
  await page.evaluate(axe.source);
  for (const [colorScheme, width] of [
    ["light", 1280],
    ["dark", 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const folder = process.env.PORTICO_TEST_SHOTS;
    if (folder) await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) defects.push(`scrolls to ${wide} of ${width} pixels`);
    const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
    for (const { id, impact, nodes } of violations)
      defects.push(`${colorScheme}: ${impact} ${id} at ${nodes[0]!.html}`);
  }
  await page.setViewportSize(size);
  return defects;
}
