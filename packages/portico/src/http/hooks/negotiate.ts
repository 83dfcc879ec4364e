// Media types: what a caller accepts and what it sends.

import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { requireUncompressed } from "../../net/content-encoding.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether a request may come without a body that another one would have. */
    needsNoBody?: boolean;
    /** What the route answers with, where it is more than JSON. */
    mediaTypes?: readonly string[];
    /** Which requests to an API route need no credential. */
    isOpenTo?: (request: FastifyRequest) => boolean;
    /** Whether a route answers in its own form, whatever is asked for. */
    ignoresAccept?: boolean;
  }
}

/** JSON has no parameter that changes it (RFC 8259, section 11), but callers name its encoding. */
const servedTypes = ["application/json", "application/json; charset=utf-8"];
/** Values of `Accept` that were judged before; callers send few different ones. */
const acceptedCache = new BoundedMap<string, boolean>(1_000);

/** @throws Problem `not_acceptable` where a caller accepts none of what the route answers with (RFC 9110, section 12.5.1) */
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

/** JSON is the only kind of body; `application/merge-patch+json` (RFC 7396) names what PATCH does with it. */
export function acceptJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    ["application/json", "application/merge-patch+json"],
    { parseAs: "buffer" },
    // Some clients name a type for every request; one that needs no body may come without.
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
    // JSON.parse makes a member called __proto__ an ordinary one; the schema then refuses it by name.
    return JSON.parse(body.toString());
  } catch {
    throw new Problem("malformed_request", "The body is not JSON.");
  }
}
