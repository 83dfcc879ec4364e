// Key sets of clients that register a URL instead of keys (`jwks_uri`, RFC 7591, section 2). The client chooses the URL,
// so requests to it are restricted and bounded.

import { BoundedMap } from "../../lib/bounded-map.ts";
import { OutboundFetch } from "../../net/outbound-fetch.ts";

const timeoutMs = 3_000;
const maxBytes = 64 * 1024;
/** How long a URL is not requested again after a failure, however many assertions are presented. */
const failureTtlMs = 10_000;
const maxFailures = 1_000;

export class RemoteKeySets {
  readonly #outbound: OutboundFetch;
  readonly #failures = new BoundedMap<string, number>(maxFailures);

  /** @param isPrivateAllowed whether private addresses and plain HTTP are allowed, as in a sandbox */
  constructor(isPrivateAllowed: boolean) {
    this.#outbound = new OutboundFetch({ isPrivateAllowed, timeoutMs, maxBytes });
  }

  /** Called by oidc-provider, which caches a key set for a minute or as long as its `Cache-Control` says. */
  async fetch(url: string): Promise<Response> {
    const failedAt = this.#failures.get(url);
    if (failedAt !== undefined && performance.now() - failedAt < failureTtlMs)
      throw new Error("the last request for the key set failed less than ten seconds ago");
    try {
      return await this.#request(new URL(url));
    } catch (error) {
      this.#failures.set(url, performance.now());
      throw error;
    }
  }

  async #request(url: URL): Promise<Response> {
    const { status, headers, body } = await this.#outbound.fetch(url, {
      headers: { accept: "application/json" },
    });
    if (status !== 200) throw new Error(`the response to the request for the key set has status ${status}`);
    const cacheControl = headers["cache-control"];
    return new Response(new Uint8Array(body), {
      headers: cacheControl === undefined ? {} : { "cache-control": cacheControl },
    });
  }
}
