// A real browser for the tests of pages: the Chromium of the machine, driven by playwright-core, which downloads none.
// It reaches this machine only.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, describe } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The program: `PORTICO_TEST_CHROMIUM`, or what a machine usually calls it. */
function findChromium(): string | undefined {
  const given = process.env.PORTICO_TEST_CHROMIUM;
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The browser of a suite: started before its first test, ended after its last. */
export class Chromium {
  /** Known once the suite has begun. */
  browser!: Browser;

  /** Opens a page with cookies of its own, hands it over, and closes it whatever happens. */
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
 * Declares a suite that a real browser runs. It is skipped, with the reason, on a machine that has none; in CI that is
 * a failure.
 */
export function inChromium(name: string, suite: (chromium: Chromium) => void): void {
  const executablePath = findChromium();
  const missing = executablePath
    ? false
    : `no Chromium on this machine: install the package chromium, or name the program in PORTICO_TEST_CHROMIUM`;
  if (missing && process.env.CI) throw new Error(missing);
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

/** What a page asked for, and what the browser complained of. */
export interface Seen {
  readonly requests: Request[];
  /** Errors of the console, violations of the Content-Security-Policy among them, and exceptions of scripts. */
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

/** The hosts other than `origin` that were asked for something; `data:` and `blob:` are no hosts. */
export function foreignHosts({ requests }: Seen, origin: string): string[] {
  const urls = requests.map((request) => new URL(request.url()));
  return urls.flatMap((url) => (/^https?:/.test(url.protocol) && url.origin !== origin ? [url.host] : []));
}

/** A passkey device inside the browser, which says yes by itself. */
export interface Authenticator {
  /** How many passkeys it holds. */
  countCredentials(): Promise<number>;
  /** From now on the person is, or is not, known to it by fingerprint or PIN. */
  setUserVerified(isVerified: boolean): Promise<void>;
}

/**
 * Gives a page a passkey device (WebAuthn, DevTools protocol). It keeps its passkeys until the page is closed, so that
 * one made on a page can sign in on another. Passkeys need a host with a name: open `http://localhost:PORT`.
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
