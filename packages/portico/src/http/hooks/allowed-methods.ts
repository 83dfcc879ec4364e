// Responds to OPTIONS, and with 405 to methods that a path does not have.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { Problem } from "../../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Renders an error of the path, if not in the API's format. */
    describeError?: (problem: Problem) => object;
  }
}

/** The routes of a path. */
interface RouteMethods {
  readonly methods: Set<string>;
  readonly hasOwnCors: boolean;
  readonly describeError: ((problem: Problem) => object) | undefined;
}

/** Handles a request without a route. */
type HandleUnrouted = (request: FastifyRequest, reply: FastifyReply) => void;

/** Completes a response to OPTIONS. @param methods those of the path: `GET, HEAD, POST` */
type CompleteOptions = (request: FastifyRequest, reply: FastifyReply, methods: string) => void;

/**
 * Records the methods of each path as routes are registered. The returned function handles requests without a route,
 * before their body is read: OPTIONS lists the allowed methods, other methods are refused with 405 and `Allow`
 * (RFC 9110, sections 9.3.7 and 15.5.6), and an unknown path with 404. `completeOptions` is not called for paths that
 * handle CORS themselves.
 *
 * The paths are stored in a router of their own. Registering a route for each missing method would add 700 routes.
 */
export function trackMethods(server: FastifyInstance, completeOptions: CompleteOptions): HandleUnrouted {
  const routedByPath = new Map<string, RouteMethods>();
  const paths = findMyWay();
  server.addHook("onRoute", ({ url, method, config }) => {
    const known = routedByPath.get(url);
    const hasOwnCors = config?.hasOwnCors === true;
    const routed = known ?? { methods: new Set(), hasOwnCors, describeError: config?.describeError };
    for (const each of [method].flat()) routed.methods.add(each);
    if (!known) paths.on("GET", url, () => {}, routed);
    routedByPath.set(url, routed);
  });
  return (request, reply) => {
    const route = paths.find("GET", pathOf(request.url));
    if (!route) throw new Problem("not_found", "There is nothing at this path.");
    // Stored with the path above.
    const { methods, hasOwnCors, describeError } = route.store as RouteMethods;
    const allowed = [...new Set([...methods, "OPTIONS"])].join(", ");
    if (request.method === "OPTIONS") {
      reply.code(204).header("Allow", allowed);
      if (!hasOwnCors) completeOptions(request, reply, [...methods].join(", "));
      reply.send();
      return;
    }
    const problem = new Problem("method_not_allowed", `Allowed here: ${allowed}.`, [], { Allow: allowed });
    if (!describeError) throw problem;
    reply.code(problem.status).headers(problem.headers).send(describeError(problem));
  };
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}
