// The key sets of clients that name an address instead of keys (`jwks_uri`, RFC 7591, section 2). Somebody else has
// written that address: what is sent there, how long it may take and how much it may answer are bounded.

import { type LookupAddress, lookup } from "node:dns";
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { isPublicAddress } from "../../net/public-address.ts";

const timeoutMs = 3_000;
const maxBytes = 64 * 1024;
/** An address that fails is not asked again for so long, however often somebody presents an assertion. */
const failureTtlMs = 10_000;
const maxFailures = 1_000;

export class RemoteKeySets {
  readonly #isPrivateAllowed: boolean;
  readonly #failures = new BoundedMap<string, number>(maxFailures);

  /** @param isPrivateAllowed whether hosts of this machine and its network may be asked: in a sandbox */
  constructor(isPrivateAllowed: boolean) {
    this.#isPrivateAllowed = isPrivateAllowed;
  }

  /** As oidc-provider asks for it, which keeps what comes for a minute or for as long as the answer says. */
  async fetch(address: string): Promise<Response> {
    const failedAt = this.#failures.get(address);
    if (failedAt !== undefined && performance.now() - failedAt < failureTtlMs)
      throw new Error("the key set could not be had a moment ago");
    try {
      return await this.#request(new URL(address));
    } catch (error) {
      this.#failures.set(address, performance.now());
      throw error;
    }
  }

  async #request(url: URL): Promise<Response> {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (url.protocol !== "https:" && !this.#isPrivateAllowed) throw new Error("the key set is not at https");
    // For an address nothing is looked up.
    if (isIP(host) !== 0) this.#requireAllowed(host);
    const answer = await this.#send(url);
    const { statusCode = 0, headers } = answer;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error("the key set is too large");
      chunks.push(chunk);
    }
    // A redirect could lead anywhere: it is no answer.
    if (statusCode !== 200) throw new Error(`the key set is answered with ${statusCode}`);
    const body = headers["cache-control"];
    return new Response(Buffer.concat(chunks), {
      headers: body === undefined ? {} : { "cache-control": body },
    });
  }

  async #send(url: URL): Promise<IncomingMessage> {
    // Loaded where it is needed, in a sandbox: as a module, node:http brings its own fetch along.
    const send = url.protocol === "https:" ? requestHttps : (await import("node:http")).request;
    return new Promise((resolve, reject) => {
      const options = {
        headers: { accept: "application/json" },
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
        lookup: this.#lookup,
      };
      send(url, options, resolve).on("error", reject).end();
    });
  }

  /** The connection goes to the address that is checked here, and no other. */
  readonly #lookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, "", 0);
      try {
        for (const { address } of addresses) this.#requireAllowed(address);
      } catch (refusal) {
        return callback(refusal as Error, "", 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };

  #requireAllowed(address: string): void {
    if (this.#isPrivateAllowed || isPublicAddress(address)) return;
    throw new Error("the key set is at an address that is not public");
  }
}
