// A minimal browser for pages without scripts: cookies, redirects, forms.

import assert from "node:assert/strict";

export interface Shown {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

interface Sent {
  readonly method?: string;
  readonly body?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Browser {
  readonly #cookies: { name: string; value: string; path: string }[] = [];
  readonly #userAgent: string;
  readonly #always: Readonly<Record<string, string>>;

  /**
   * @param userAgent the User-Agent header
   * @param always further headers of every request
   */
  constructor(userAgent = "node", always: Readonly<Record<string, string>> = {}) {
    this.#userAgent = userAgent;
    this.#always = always;
  }

  async open(url: string, { headers: extraHeaders = {}, ...init }: Sent = {}): Promise<Shown> {
    const { pathname } = new URL(url);
    const cookies = this.#cookies.filter(({ path }) => pathname.startsWith(path));
    const headers = new Headers({ ...this.#always, ...extraHeaders });
    headers.set("cookie", cookies.map(({ name, value }) => `${name}=${value}`).join("; "));
    headers.set("user-agent", this.#userAgent);
    headers.set("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const location = response.headers.get("location");
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    };
  }

  /** Follows redirects within the server. */
  async follow(url: string): Promise<Shown> {
    let shown = await this.open(url);
    for (let hops = 0; shown.location?.startsWith(new URL(url).origin); hops += 1) {
      assert.ok(hops < 10, "redirects in a circle");
      shown = await this.open(shown.location);
    }
    return shown;
  }

  /** Submits a form of a page and follows redirects. */
  async submit(page: Shown, fields: Readonly<Record<string, string>>, button?: string): Promise<Shown> {
    const sent = await this.send(page, fields, button);
    return sent.location?.startsWith(new URL(page.url).origin) ? this.follow(sent.location) : sent;
  }

  /** @param button the name of a button in the form; the first form if undefined */
  async send(page: Shown, fields: Readonly<Record<string, string>>, button = ""): Promise<Shown> {
    const forms = page.text.match(/<form.*?<\/form>/gs) ?? [page.text];
    const form = forms.find((each) => each.includes(button)) ?? "";
    const [, action = ""] = /<form[^>]* action="([^"]*)"/.exec(form) ?? [];
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const unchanged = hidden.filter(([, name]) => !(name! in fields));
    const body = new URLSearchParams([
      ...unchanged.map(([, name, value]) => [name!, value!]),
      ...Object.entries(fields),
    ]);
    return this.open(new URL(action, page.url).href, { method: "POST", body });
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals);
    const path = attributes.find((each) => /^path=/i.test(each))?.slice("path=".length) ?? "/";
    const isGone = attributes.some((each) => /^expires=Thu, 01 Jan 1970/i.test(each));
    const index = this.#cookies.findIndex((cookie) => cookie.name === name && cookie.path === path);
    if (index >= 0) this.#cookies.splice(index, 1);
    if (!isGone) this.#cookies.push({ name, value: pair.slice(equals + 1), path });
  }
}
