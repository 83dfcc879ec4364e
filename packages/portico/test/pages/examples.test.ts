// The applications of examples/ in a real browser, started as their READMEs describe.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page, Request } from "playwright-core";
import { type Chromium, foreignHosts, inChromium } from "../support/chromium.ts";
import type { TestServer } from "../support/scenario.ts";
import { fillInSignIn } from "./application.ts";
import { type Example, example } from "./example.ts";

const posts = ["Nanoseconds", "<b>On</b> compilers & bugs"];

/** Creates two posts of the user, and one of another user, who owns the key. */
async function writePosts({ server, user }: Example): Promise<void> {
  for (const title of posts) await server.create("/posts", { title, authorId: user.id });
  await server.create("/posts", { title: "Not theirs" });
}

async function shownPosts(page: Page): Promise<string[]> {
  await page.getByRole("listitem").first().waitFor();
  return page.getByRole("listitem").allTextContents();
}

inChromium("examples", (chromium) => {
  describe("examples/single-page", () => singlePage(chromium));
  describe("examples/server-side", () => serverSide(chromium));
});

function singlePage(chromium: Chromium): void {
  const app = example("examples/single-page", "8080");

  test("a user signs in, sees their posts, refreshes and signs out", async () => {
    const { server } = app;
    await chromium.visit(async (page, seen) => {
      await app.signIn(page);
      await page.getByText("You have no posts yet.").waitFor();
      await writePosts(app);
      const first = bearerOf(seen.requests);
      const refreshed = page.waitForResponse((response) => response.url().endsWith("/oauth/token"));
      await page.getByRole("button", { name: "Refresh" }).click();
      assert.equal((await refreshed).status(), 200);
      assert.deepEqual(await shownPosts(page), posts.toReversed());
      const second = bearerOf(seen.requests);
      assert.notEqual(second, first);
      const stored = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
      assert.equal(stored, '[{},{},""]');
      await app.signOut(page);
      await page.goto(app.url);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Password").waitFor();
      assert.deepEqual([...new Set(foreignHosts(seen, server.url))], [new URL(app.url).host]);
      assert.deepEqual(seen.faults, []);
      await hasEnded(server, second);
    });
  });

  test("a callback without a sign-in started in the tab is refused", async () => {
    await chromium.visit(async (page, seen) => {
      await page.goto(`${app.url}?code=stolen&state=guessed&iss=${app.server.url}/oauth`);
      await page.getByRole("alert").getByText("not started in this tab").waitFor();
      assert.equal(page.url(), app.url);
      assert.ok(!seen.requests.some((request) => request.url().endsWith("/token")));
      await page.getByRole("button", { name: "Sign in" }).waitFor();
    });
  });

  test("a user who denies access sees a message, and can start again", async () => {
    await chromium.visit(async (page) => {
      await page.goto(app.url);
      await page.getByRole("button", { name: "Sign in" }).click();
      await fillInSignIn(page, app.user, app.password);
      await page.getByRole("button", { name: "Do not allow" }).click();
      await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
      await page.getByRole("button", { name: "Sign in" }).waitFor();
    });
  });
}

function serverSide(chromium: Chromium): void {
  const app = example("examples/server-side", "8081");

  test("a user signs in, sees their posts and signs out", async () => {
    await writePosts(app);
    await chromium.visit(async (page, seen) => {
      await app.signIn(page);
      assert.deepEqual(await shownPosts(page), posts.toReversed());
      const cookies = await page.context().cookies(app.url);
      const session = cookies.find(({ name }) => name === "example_session");
      assert.deepEqual([session?.httpOnly, session?.sameSite], [true, "Lax"]);
      await app.signOut(page);
      await page.goto(app.url);
      await page.getByRole("link", { name: "Sign in" }).waitFor();
      assert.equal(bearerOf(seen.requests), undefined);
      assert.deepEqual(seen.faults, []);
    });
  });

  test("a callback without a sign-in started in the browser does not sign in", async () => {
    await chromium.visit(async (page) => {
      await page.goto(`${app.url}callback?code=stolen&state=guessed`);
      await page.getByRole("link", { name: "Sign in" }).waitFor();
    });
  });
}

/** The last access token that a page sent. */
function bearerOf(requests: readonly Request[]): string | undefined {
  return requests.findLast((request) => request.headers()["authorization"])?.headers()["authorization"];
}

/** Asserts that the API refuses the token within two seconds. */
async function hasEnded(server: TestServer, authorization: string | undefined): Promise<void> {
  const key = authorization!.replace("Bearer ", "");
  for (const until = Date.now() + 2_000; Date.now() < until; )
    if ((await server.request("/posts", { key })).status === 401) return;
  assert.fail("the access token is still accepted by the API");
}
