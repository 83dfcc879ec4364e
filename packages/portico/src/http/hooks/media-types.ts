// Media types: of responses, by the header Accept, and of request bodies.

import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { requireUncompressed } from "../../net/content-encoding.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the body of a request is optional. */
    needsNoBody?: boolean;
    /** Media types of the responses, if not only JSON. */
    mediaTypes?: readonly string[];
    /** Whether a request to this API route needs no credential. */
    isOpenTo?: (request: FastifyRequest) => boolean;
    /** Whether the route ignores `Accept`. */
    ignoresAccept?: boolean;
  }
}

/** JSON has no parameters (RFC 8259, section 11), but callers name its encoding. */
const servedTypes = ["application/json", "application/json; charset=utf-8"];
/** Results by the value of `Accept`; callers send few different ones. */
const acceptedCache = new BoundedMap<string, boolean>(1_000);

/** @throws Problem `not_acceptable` if a caller accepts no media type of the route (RFC 9110, section 12.5.1) */
export function requireAccepted({ headers: { accept }, route }: FastifyRequest): void {
  if (accept === undefined || accept === "*/*" || accept === "application/json") return;
  const { mediaTypes } = route.config;
  if (mediaTypes && new Negotiator({ headers: { accept } }).mediaType([...mediaTypes]) !== undefined) return;
  let isAccepted = acceptedCache.get(accept);
  if (isAccepted === undefined) {
    isAccepted = new Negotiator({ headers: { accept } }).mediaType(servedTypes) !== undefined;
    acceptedCache.set(accept, isAccepted);
  }
  if (!isAccepted) throw new Problem("not_acceptable");
}

/** Accepts JSON bodies only; `application/merge-patch+json` (RFC 7396) is JSON too. */
export function acceptJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    ["application/json", "application/merge-patch+json"],
    { parseAs: "buffer" },
    // Some clients send a Content-Type with every request, even without a body.
    async ({ method, headers, route }: FastifyRequest, body: Buffer) => {
      requireUncompressed(headers["content-encoding"]);
      const needsNone = method === "DELETE" || route.config.needsNoBody;
      return body.length === 0 && needsNone ? undefined : parseJson(body);
    },
  );
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new Problem("malformed_request", "The body is not UTF-8.");
  try {
    // JSON.parse makes __proto__ an ordinary member; validation then reports it as an unknown field.
    return JSON.parse(body.toString());
  } catch {
    throw new Problem("malformed_request", "The body is not JSON.");
  }
}
