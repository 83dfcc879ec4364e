// A real browser for tests of pages: the installed Chromium, driven by playwright-core. It can reach this machine only.

import { after, before, describe } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import { findProgram, skipped } from "./installed-programs.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser of a suite, started before its first test and closed after its last. */
export class Chromium {
  /** Set before the first test. */
  browser!: Browser;

  /** Runs `work` on a page with its own cookies, and closes the page in any case. */
  async visit<Result>(
    work: (page: Page, seen: Seen) => Promise<Result>,
    options: BrowserContextOptions = {},
  ): Promise<Result> {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    try {
      return await work(page, watch(page));
    } finally {
      await context.close();
    }
  }
}

/**
 * Declares a suite that runs in a real browser. Without Chromium it is skipped with a reason, and fails in CI.
 */
export function inChromium(name: string, suite: (chromium: Chromium) => void): void {
  const executablePath = process.env.PORTICO_TEST_CHROMIUM || findProgram(...names);
  const missing =
    executablePath === undefined &&
    skipped(
      "no Chromium on this machine: install the package chromium, or name the program in PORTICO_TEST_CHROMIUM",
    );
  describe(`${name} (Chromium)`, { skip: missing }, () => {
    const opened = new Chromium();
    before(async () => {
      opened.browser = await chromium.launch({
        executablePath: executablePath!,
        // Chromium has no sandbox for root.
        chromiumSandbox: process.getuid?.() !== 0,
        args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
      });
    });
    after(() => opened.browser?.close());
    suite(opened);
  });
}

/** The requests of a page, and the errors that the browser reported. */
export interface Seen {
  readonly requests: Request[];
  /** Console errors, including violations of the Content-Security-Policy, and script exceptions. */
  readonly faults: string[];
}

function watch(page: Page): Seen {
  const seen: Seen = { requests: [], faults: [] };
  page.on("request", (request) => seen.requests.push(request));
  page.on("console", (message) => {
    if (message.type() === "error") seen.faults.push(message.text());
  });
  page.on("pageerror", (error) => seen.faults.push(String(error)));
  return seen;
}

/** The hosts other than `origin` that received a request. `data:` and `blob:` URLs have none. */
export function foreignHosts({ requests }: Seen, origin: string): string[] {
  const urls = requests.map((request) => new URL(request.url()));
  return urls.flatMap((url) => (/^https?:/.test(url.protocol) && url.origin !== origin ? [url.host] : []));
}

/** A virtual passkey device in the browser, which confirms without user interaction. */
export interface Authenticator {
  /** The number of its passkeys. */
  countCredentials(): Promise<number>;
  /** Sets whether user verification (fingerprint or PIN) succeeds. */
  setUserVerified(isVerified: boolean): Promise<void>;
}

/**
 * Adds a virtual passkey device to a page (WebAuthn, DevTools protocol). Its passkeys exist until the page is closed.
 * Passkeys require a host name: open `http://localhost:PORT`.
 *
 *     const device = await withAuthenticator(page);
 *     await page.getByRole("button", { name: "Add a passkey" }).click();
 *     assert.equal(await device.countCredentials(), 1);
 */
export async function withAuthenticator(page: Page): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    countCredentials: async () =>
      (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length,
    setUserVerified: async (isUserVerified) => {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
  };
}
