// Which pages of other origins may call the API from a browser (Fetch, section 3.2). Credentials travel in headers that
// a page sets itself, never in cookies, so `Access-Control-Allow-Credentials` is never sent. The endpoints of the
// authorization server answer for themselves, by the origins of each client's redirect URIs.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether a route says by itself which origins may call it. */
    hasOwnCors?: boolean;
  }
}

/** As browsers write them: `https://app.example.com`; `*` for every one. */
export type AllowedOrigins = "*" | readonly string[];

/** What a request may have beyond that which pages send without being asked about (Fetch, section 2.2.2). */
const allowedHeaders =
  "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id";
/** What a script may read of an answer beyond that which is always readable. */
const exposedHeaders =
  "Allow, Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id";
/** So long a browser need not ask again; Chromium takes no more than two hours. */
const maxAgeSeconds = "3600";

/**
 * Lets pages of these origins read what is answered, refusals as well: call it before whatever refuses. A request
 * without `Origin` comes from no such page.
 */
export function registerCors(server: FastifyInstance, origins: AllowedOrigins): void {
  server.addHook("onRequest", (request, reply, done) => {
    if (request.headers.origin === undefined || request.route.config.hasOwnCors) return done();
    const allowed = allowedOrigin(request, origins);
    reply.header("Vary", "Origin");
    if (allowed !== undefined)
      reply.headers({
        "Access-Control-Allow-Origin": allowed,
        "Access-Control-Expose-Headers": exposedHeaders,
      });
    done();
  });
}

/** Answers a browser's question whether a page may send what it wants to. An `OPTIONS` of another kind asks nothing. */
export function allowPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: string,
  origins: AllowedOrigins,
): void {
  if (request.headers["access-control-request-method"] === undefined) return;
  if (allowedOrigin(request, origins) === undefined) return;
  reply.removeHeader("Access-Control-Expose-Headers").headers({
    "Access-Control-Allow-Methods": methods,
    "Access-Control-Allow-Headers": allowedHeaders,
    "Access-Control-Max-Age": maxAgeSeconds,
  });
}

function allowedOrigin({ headers: { origin } }: FastifyRequest, origins: AllowedOrigins): string | undefined {
  if (origins === "*") return "*";
  return origin !== undefined && origins.includes(origin) ? origin : undefined;
}
