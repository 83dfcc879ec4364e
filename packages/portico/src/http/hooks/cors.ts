// CORS: which origins may call the API from a browser (Fetch, section 3.2). The API accepts credentials only in headers,
// never in cookies, so `Access-Control-Allow-Credentials` is not sent. The endpoints of the authorization server have
// their own CORS, by the origins of each client's redirect URIs.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether a route handles CORS itself. */
    hasOwnCors?: boolean;
  }
}

/** As browsers write them, `https://app.example.com`; `*` for all origins. */
export type AllowedOrigins = "*" | readonly string[];

/** Request headers that need a preflight request (Fetch, section 2.2.2). */
const allowedHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, X-API-Key, X-Request-Id";
/** Response headers that scripts may read, in addition to those that are always readable. */
const exposedHeaders =
  "Allow, Deprecation, ETag, Idempotent-Replayed, Last-Event-ID, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, Total-Count, WWW-Authenticate, X-Request-Id";
/** How long browsers may cache a preflight response; Chromium caches it for at most two hours. */
const maxAgeSeconds = "3600";

/** Lets pages of these origins read all responses. Call it before the hooks that refuse requests, for their errors too. */
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

/** Adds the headers of a preflight response, unless the request is another kind of `OPTIONS`. */
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
