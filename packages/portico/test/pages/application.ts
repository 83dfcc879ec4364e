// The application to which users are redirected: another origin on this machine.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { password, type User } from "../support/oauth.ts";

export class Application {
  readonly #server: Server;
  /** The content of its page `/`. */
  html = "";
  /** Where its callback redirects, as an application does whose callback and pages have different origins. */
  redirectsTo: string | undefined;

  constructor() {
    this.#server = createServer((request, response) => {
      if (this.redirectsTo !== undefined && request.url?.startsWith("/callback")) {
        response.writeHead(302, { Location: this.redirectsTo }).end();
        return;
      }
      const text = request.url === "/" ? this.html : "<!DOCTYPE html><title>Back</title><h1>Back</h1>";
      response.setHeader("Content-Type", "text/html; charset=utf-8").end(text);
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get callback(): string {
    return `${this.origin}/callback`;
  }

  /** @returns the URL to which a user was redirected */
  async waitForCallback(page: Page): Promise<URL> {
    await page.waitForURL(`${this.callback}?*`);
    return new URL(page.url());
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** One application for all tests of the calling suite. */
export function application(): Application {
  const application = new Application();
  before(() => application.listen());
  after(() => application.close());
  return application;
}

export async function fillInSignIn(page: Page, { email }: User, typed = password): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(typed);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

export async function allow(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Allow", exact: true }).click();
}
