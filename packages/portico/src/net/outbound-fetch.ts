// Outgoing HTTP requests to addresses that others configure. A server that requests any URL can be misused to reach
// hosts that only it can reach (server-side request forgery, SSRF), so by default only public addresses are allowed.

import { type LookupAddress, lookup as lookupHost } from "node:dns";
import type { Agent, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { resolverOfPublicHosts } from "./dns-resolver.ts";
import { isPublicAddress } from "./public-address.ts";

export interface OutboundFetchOptions {
  /** Whether requests to private addresses, and over plain HTTP, are allowed. */
  readonly isPrivateAllowed: boolean;
  /** For the whole exchange, from the DNS lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** Maximum size of a response body. */
  readonly maxBytes: number;
  /**
   * Whether the status is what matters: of a larger body, or one that breaks off, only the beginning is returned. By
   * default, both are errors.
   */
  readonly isBodyOptional?: boolean;
  /** Resolves host names; by default DNS, and the system's resolver if private addresses are allowed. */
  readonly resolve?: ResolveHost;
}

export type ResolveHost = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What is read of a body beyond `maxBytes` to keep its connection. */
const maxSkippedBytes = 64 * 1024;

/**
 * @example
 * const outbound = new OutboundFetch({ isPrivateAllowed: false, timeoutMs: 3_000, maxBytes: 65_536 });
 * const { status, body } = await outbound.fetch(new URL("https://app.example.com/jwks"));
 */
export class OutboundFetch {
  readonly #options: OutboundFetchOptions;
  /** Connections are kept for a few seconds. Each was checked when it was opened. */
  readonly #agents = new Map<string, Agent>();
  /** Set by the first look-up. */
  #resolve: ResolveHost | undefined;

  constructor(options: OutboundFetchOptions) {
    this.#options = options;
  }

  /**
   * Sends a request and reads the whole response. Redirects are not followed: their status is returned.
   *
   * @throws Error if the address is not allowed, no connection can be made, the timeout is over, or (unless
   * `isBodyOptional`) the response is too large
   */
  async fetch(url: URL, request: OutboundRequest = {}): Promise<OutboundResponse> {
    const { timeoutMs } = this.#options;
    this.#requireAllowedUrl(url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#send(url, request, signal);
      const body = await (this.#options.isBodyOptional
        ? this.#readBeginning(response)
        : this.#read(response));
      return { status: response.statusCode ?? 0, headers: response.headers, body };
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new Error(`${url.host} did not respond within ${timeoutMs} ms`, { cause });
    }
  }

  /** Closes the connections that are kept. Requests in progress fail. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #requireAllowedUrl({ protocol, hostname }: URL): void {
    const isHttp = protocol === "http:" && this.#options.isPrivateAllowed;
    if (protocol !== "https:" && !isHttp) throw new Error(`requests to ${protocol} are not allowed`);
    // Node does not look up literal addresses, so they are checked here.
    const address = hostname.replace(/^\[|\]$/g, "");
    if (isIP(address) !== 0 && !this.#isAllowedAddress(address))
      throw new Error(`${address} is not a public address`);
  }

  #isAllowedAddress(address: string): boolean {
    return this.#options.isPrivateAllowed || isPublicAddress(address);
  }

  #send(
    url: URL,
    { method = "GET", headers, body }: OutboundRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const http = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
    let agent = this.#agents.get(url.protocol);
    if (!agent) {
      agent = new http.Agent({ keepAlive: true, timeout: this.#options.timeoutMs });
      this.#agents.set(url.protocol, agent);
    }
    const options = {
      method,
      headers: { "accept-encoding": "identity", ...headers },
      agent,
      signal,
      lookup: this.#lookup,
    };
    const attempt = (isLast: boolean): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        let isAnswered = false;
        const sent = http.request(url, options, (response) => {
          isAnswered = true;
          resolve(response);
        });
        // Without a listener, the connection would be closed without an error.
        sent.on("upgrade", ({ statusCode }, socket) => {
          socket.destroy();
          reject(new Error(`the server wants to switch protocols (${statusCode})`));
        });
        sent.on("error", (error: NodeJS.ErrnoException) => {
          // The server closed a kept connection before this request reached it.
          const isStale = sent.reusedSocket && error.code === "ECONNRESET" && !isAnswered;
          if (isStale && !isLast) resolve(attempt(true));
          else reject(error);
        });
        sent.end(body);
      });
    return attempt(false);
  }

  /**
   * Checks the addresses at the time of the connection, which uses these addresses and no others. A check at any other
   * time could see a different answer (DNS rebinding).
   */
  readonly #lookup: LookupFunction = (host, options, callback) => {
    this.#resolve ??=
      this.#options.resolve ?? (this.#options.isPrivateAllowed ? lookupHost : resolverOfPublicHosts());
    this.#resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      // The error may be shown to whoever configured the host, who is not told the addresses of internal hosts.
      if (addresses.length === 0 || !addresses.every(({ address }) => this.#isAllowedAddress(address)))
        return callback(new Error(`${host} is not a public address`), "", 0);
      if (options.all) return callback(null, addresses);
      callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };

  async #read(response: IncomingMessage): Promise<Buffer> {
    const { maxBytes } = this.#options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Leaving the loop closes the connection.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
  /** The first `maxBytes` of the body. A short rest is read too, so that the connection can be kept. */
  async #readBeginning(response: IncomingMessage): Promise<Buffer> {
    const { maxBytes } = this.#options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        if (bytes < maxBytes) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes + maxSkippedBytes) break;
      }
    } catch {
      // The connection broke off, or the timeout is over.
    }
    return Buffer.concat(chunks).subarray(0, maxBytes);
  }
}
