// The route of a request and the logger of the server, set once: whenever Fastify is asked for a route it makes an
// object of all that it knows of it, and with a logger of its own it makes one for each request and listens to each
// answer.

import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance } from "fastify";

/** Where a request was routed to. */
export interface Route {
  /** The pattern of the path, `/posts/:id`; there is none where nothing is at the path. */
  readonly url: string | undefined;
  readonly config: FastifyContextConfig;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Known in every hook of the server. */
    route: Route;
  }
}

/** Call it before all hooks that ask for the route or write to the log. */
export function equipRequests(server: FastifyInstance, logger: FastifyBaseLogger): void {
  server.decorateRequest("route");
  server.addHook("onRequest", (request, reply, done) => {
    request.route = request.routeOptions;
    request.log = logger;
    reply.log = logger;
    done();
  });
}
