// 405 and OPTIONS: every path knows which methods it has.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { Problem } from "../errors.ts";

/** What a request does whose method its path does not have; undefined where nothing is at the path. */
type Refusal = (request: FastifyRequest, reply: FastifyReply) => void;

/** Adds to the answer to OPTIONS. @param methods those of the path: `GET, HEAD, POST` */
type TellMore = (request: FastifyRequest, reply: FastifyReply, methods: string) => void;

/** What stands at a path. */
interface Found {
  readonly methods: Set<string>;
  readonly hasOwnCors: boolean;
}

/**
 * Watches which routes are made on `server`, and answers what none of them takes before its body is looked at:
 * OPTIONS tells what is allowed, other methods are 405 with `Allow` (RFC 9110, sections 9.3.7 and 15.5.6), and a
 * path without routes is 404. `tellMore` may add to the answer to OPTIONS, but for paths that say by themselves which
 * origins may call them.
 *
 * The paths are kept once more, in a router of their own: a route for each method that a path lacks would be
 * seven hundred routes.
 */
export function watchMethods(server: FastifyInstance, tellMore: TellMore): Refusal {
  const foundByPath = new Map<string, Found>();
  const paths = findMyWay();
  server.addHook("onRoute", ({ url, method, config }) => {
    const found = foundByPath.get(url) ?? {
      methods: new Set(),
      hasOwnCors: config?.hasOwnCors === true,
    };
    for (const each of [method].flat()) found.methods.add(each);
    if (!foundByPath.has(url)) paths.on("GET", url, () => {}, found);
    foundByPath.set(url, found);
  });
  return (request, reply) => {
    const found = paths.find("GET", pathOf(request.url));
    if (!found) throw new Problem("not_found", "There is nothing at this path.");
    // What stands with a path was put there above.
    const { methods, hasOwnCors } = found.store as Found;
    const allowed = [...methods, "OPTIONS"].join(", ");
    if (request.method === "OPTIONS") {
      reply.code(204).header("Allow", allowed);
      if (!hasOwnCors) tellMore(request, reply, [...methods].join(", "));
      reply.send();
      return;
    }
    throw new Problem("method_not_allowed", `Allowed here: ${allowed}.`, [], { Allow: allowed });
  };
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}
