// 405 and OPTIONS: every path knows which methods it has.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { Problem } from "../../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body of errors at the path, where it is not in the API's shape. */
    describeError?: (problem: Problem) => object;
  }
}

/** What stands at a path. */
interface RouteMethods {
  readonly methods: Set<string>;
  readonly hasOwnCors: boolean;
  readonly describeError: ((problem: Problem) => object) | undefined;
}

/** What a request does whose method its path does not have; undefined where nothing is at the path. */
type RefuseMethod = (request: FastifyRequest, reply: FastifyReply) => void;

/** Adds to the answer to OPTIONS. @param methods those of the path: `GET, HEAD, POST` */
type OnRefusal = (request: FastifyRequest, reply: FastifyReply, methods: string) => void;

/**
 * Watches which routes are made on `server`, and answers what none of them takes before its body is looked at:
 * OPTIONS tells what is allowed, other methods are 405 with `Allow` (RFC 9110, sections 9.3.7 and 15.5.6), and a
 * path without routes is 404. `onRefusal` may add to the answer to OPTIONS, but for paths that say by themselves which
 * origins may call them.
 *
 * The paths are kept once more, in a router of their own: a route for each method that a path lacks would be
 * seven hundred routes.
 */
export function trackMethods(server: FastifyInstance, onRefusal: OnRefusal): RefuseMethod {
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
    // What stands with a path was put there above.
    const { methods, hasOwnCors, describeError } = route.store as RouteMethods;
    const allowed = [...new Set([...methods, "OPTIONS"])].join(", ");
    if (request.method === "OPTIONS") {
      reply.code(204).header("Allow", allowed);
      if (!hasOwnCors) onRefusal(request, reply, [...methods].join(", "));
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
