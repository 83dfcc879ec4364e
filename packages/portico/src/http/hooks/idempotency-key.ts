// Refuses an Idempotency-Key on routes that would ignore it: a caller would repeat the request and believe that it runs
// once.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "../../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether requests with an Idempotency-Key run once. */
    takesIdempotencyKey?: boolean;
  }
}

/** Adds the check to the routes whose method is not idempotent (RFC 9110, section 9.2.2). */
export function refuseIgnoredKeys(routes: FastifyInstance): void {
  routes.addHook("onRoute", (route) => {
    const repeatable = [route.method].flat().every((method) => method !== "POST" && method !== "PATCH");
    if (repeatable || route.config?.takesIdempotencyKey) return;
    route.onRequest = [route.onRequest ?? []].flat().concat(async (request: FastifyRequest) => {
      if (request.headers["idempotency-key"] === undefined) return;
      throw new Problem(
        "malformed_request",
        "This operation does not take an `Idempotency-Key`. Send the request without it.",
      );
    });
  });
}
