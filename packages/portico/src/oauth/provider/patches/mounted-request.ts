// oidc-provider 9.13 derives its URLs from Host and X-Forwarded-* (discovery, forms, redirects), reads the request
// body from the stream, and renders errors of every endpoint as HTML if Accept prefers it. Portico passes it a
// request of its own: Host and protocol come from AUTH_URL, other forwarding headers are removed, the target is the
// path below the issuer, the body has been read and checked, and Accept is HTML for pages and JSON for all else
// (RFC 6749, section 5.2).

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type Provider from "oidc-provider";
import type { Issuer } from "../../endpoints/issuer.ts";

const removedHeaders = {
  forwarded: undefined,
  "x-forwarded-for": undefined,
  "x-forwarded-host": undefined,
  "x-forwarded-port": undefined,
};

export interface MountedRequest extends IncomingMessage {
  /** The network address of the client. */
  readonly address: string;
}

export interface MountOptions {
  readonly issuer: Issuer;
  /** The network address of the client. */
  readonly address: string;
  /** The path below the issuer, with the query. */
  readonly target: string;
  /** Whether the response is an HTML page; JSON otherwise. */
  readonly isPage: boolean;
  readonly body?: string | Buffer | undefined;
}

/** Makes oidc-provider read the protocol from `x-forwarded-proto`, which `mountedRequest` sets. */
export function trustMountedHeaders(provider: Provider): void {
  provider.proxy = true;
}

export function mountedRequest(
  { raw }: FastifyRequest,
  { issuer, address, target, isPage, body }: MountOptions,
): MountedRequest {
  const headers: IncomingMessage["headers"] = {
    ...raw.headers,
    ...removedHeaders,
    host: issuer.host,
    "x-forwarded-proto": issuer.protocol,
    accept: isPage ? "text/html" : "application/json",
  };
  if (body !== undefined && body.length > 0) {
    headers["transfer-encoding"] = undefined;
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  const { method, httpVersion, httpVersionMajor, httpVersionMinor, socket } = raw;
  // The members of a request that Koa and oidc-provider read; of the stream, only its iterator.
  return {
    ...{ method, httpVersion, httpVersionMajor, httpVersionMinor, socket, headers },
    url: target,
    originalUrl: `${issuer.path}${target}`,
    ...{ address, readable: true, readableEncoding: null },
    iterator: () => chunksOf(body),
  } as unknown as MountedRequest;
}

/** The network address of the client of a request that oidc-provider passes to a callback: always a mounted one. */
export function addressOf(request: IncomingMessage): string {
  return (request as MountedRequest).address;
}

async function* chunksOf(body: MountOptions["body"]): AsyncGenerator<Buffer> {
  if (body !== undefined) yield typeof body === "string" ? Buffer.from(body) : body;
}
