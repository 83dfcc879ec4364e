// A request as oidc-provider sees it: below the path of the issuer, with the headers that AUTH_URL tells and no
// others that could move it, and with its body at hand.

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Issuer } from "../endpoints/issuer.ts";

/** What a request can claim about where it came to, beside `host` and the protocol, which are told below. */
const clearedHeaders = {
  forwarded: undefined,
  "x-forwarded-for": undefined,
  "x-forwarded-host": undefined,
  "x-forwarded-port": undefined,
};

export interface MountedRequest extends IncomingMessage {
  /** Where the request comes from. */
  readonly address: string;
}

export interface MountOptions {
  readonly issuer: Issuer;
  readonly address: string;
  /** The path below the issuer, with the query. */
  readonly target: string;
  /** Pages are for people; all else answers in JSON, whatever it is asked for. */
  readonly isPage: boolean;
  readonly body?: string | Buffer | undefined;
}

export function mountedRequest(
  { raw }: FastifyRequest,
  { issuer, address, target, isPage, body }: MountOptions,
): MountedRequest {
  const headers: IncomingMessage["headers"] = {
    ...raw.headers,
    ...clearedHeaders,
    host: issuer.host,
    "x-forwarded-proto": issuer.protocol,
    accept: isPage ? "text/html" : "application/json",
  };
  if (body !== undefined && body.length > 0) {
    headers["transfer-encoding"] = undefined;
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  const { method, httpVersion, httpVersionMajor, httpVersionMinor, socket } = raw;
  // What Koa and the library read of a request; of a stream, no more than its iterator.
  return {
    ...{ method, httpVersion, httpVersionMajor, httpVersionMinor, socket, headers },
    url: target,
    originalUrl: `${issuer.path}${target}`,
    ...{ address, readable: true, readableEncoding: null },
    iterator: () => chunksOf(body),
  } as unknown as MountedRequest;
}

/** Where a request comes from that the library hands back; it comes with no others than these. */
export function addressOf(request: IncomingMessage): string {
  return (request as MountedRequest).address;
}

async function* chunksOf(body: MountOptions["body"]): AsyncGenerator<Buffer> {
  if (body !== undefined) yield typeof body === "string" ? Buffer.from(body) : body;
}
