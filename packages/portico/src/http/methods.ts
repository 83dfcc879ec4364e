// 405 and OPTIONS: every path knows which methods it has.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { Problem } from "../errors.ts";

/** What a request does whose method its path does not have; undefined where nothing is at the path. */
type Refusal = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Watches which routes are made on `server`, and answers what none of them takes before its body is looked at:
 * OPTIONS tells what is allowed, other methods are 405 with `Allow` (RFC 9110, sections 9.3.7 and 15.5.6), and a
 * path without routes is 404.
 *
 * The paths are kept once more, in a router of their own: a route for each method that a path lacks would be
 * seven hundred routes.
 */
export function watchMethods(server: FastifyInstance): Refusal {
  const methodsByPath = new Map<string, Set<string>>();
  const paths = findMyWay();
  server.addHook("onRoute", ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    if (!methodsByPath.has(url)) paths.on("GET", url, () => {}, methods);
    methodsByPath.set(url, methods);
  });
  return (request, reply) => {
    const found = paths.find("GET", pathOf(request.url));
    if (!found) throw new Problem("not_found", "There is nothing at this path.");
    // What stands with a path was put there above.
    const allowed = [...(found.store as Set<string>), "OPTIONS"].join(", ");
    if (request.method === "OPTIONS") {
      reply.code(204).header("Allow", allowed).send();
      return;
    }
    throw new Problem("method_not_allowed", `Allowed here: ${allowed}.`, [], { Allow: allowed });
  };
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}
