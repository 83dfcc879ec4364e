// Sets the route and the logger of each request once. Fastify's `routeOptions` creates an object at each access, and its
// own logger adds a child logger and listeners to each request.

import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance } from "fastify";

/** The route of a request. */
export interface Route {
  /** The pattern of the path, `/posts/:id`; undefined for an unknown path. */
  readonly url: string | undefined;
  readonly config: FastifyContextConfig;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set before all other hooks. */
    route: Route;
  }
}

/** Call it before all hooks that read the route or write to the log. */
export function equipRequests(server: FastifyInstance, logger: FastifyBaseLogger): void {
  server.decorateRequest("route");
  server.addHook("onRequest", (request, reply, done) => {
    request.route = request.routeOptions;
    request.log = logger;
    reply.log = logger;
    done();
  });
}
