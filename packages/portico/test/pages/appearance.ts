// Checks the appearance of pages: light and dark, on a phone and a wide screen, for assistive technology, and without
// requests to other origins. With PORTICO_TEST_SHOTS=FOLDER a screenshot of each is stored there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { type Chromium, foreignHosts, type Seen } from "../support/chromium.ts";
import type { TestServer } from "../support/scenario.ts";

/** Each colour scheme and each width once, as no rule of the style sheet depends on both. All pairs for screenshots. */
const variants = process.env.PORTICO_TEST_SHOTS
  ? (["light", "dark"] as const).flatMap((colorScheme) =>
      [1280, 360].map((width) => ({ colorScheme, width })),
    )
  : ([
      { colorScheme: "light", width: 1280 },
      { colorScheme: "dark", width: 360 },
    ] as const);

type Walk = (name: string, work: (page: Page, check: Check, seen: Seen) => Promise<void>) => void;

/**
 * Declares tests that visit pages in one browser; each call of `check` is a test.
 * @param otherHosts those besides the server that may get requests
 */
export function walks(
  chromium: Chromium,
  server: TestServer,
  otherHosts: () => readonly string[] = () => [],
): Walk {
  return (name, work) =>
    test(name, (context) =>
      chromium.visit(async (page, seen) => {
        const check: Check = async (shown, script = "'none'") =>
          context.test(shown, async () => assert.deepEqual(await faultsOf(page, seen, shown, script), []));
        await work(page, check, seen);
        const hosts = foreignHosts(seen, server.url).filter((host) => !otherHosts().includes(host));
        assert.deepEqual([...new Set(hosts)], []);
        // Chromium logs every response with an error status.
        assert.deepEqual(
          seen.faults.filter((fault) => !fault.includes("responded with a status of 4")),
          [],
        );
      }),
    );
}

export function press(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name }).click();
}

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
