// 405 and OPTIONS: every path knows which methods it has.

import { METHODS } from "node:http";
import type { FastifyInstance, HTTPMethods } from "fastify";
import { Problem } from "../errors.ts";

/**
 * Watches which routes are made on `server`; calling the answer afterwards gives every path the methods it lacks:
 * OPTIONS tells what is allowed, all others are 405 with `Allow` (RFC 9110, sections 9.3.7 and 15.5.6).
 */
export function watchMethods(server: FastifyInstance): () => void {
  const paths = new Map<string, Set<string>>();
  server.addHook("onRoute", ({ url, method }) => {
    const methods = paths.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    paths.set(url, methods);
  });
  return () => {
    const known = METHODS.filter((method) => method !== "CONNECT");
    for (const method of known) {
      if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
    }
    for (const [url, methods] of [...paths]) {
      const allowed = [...methods, "OPTIONS"].join(", ");
      const missing = known.filter((method) => !methods.has(method) && method !== "OPTIONS");
      server.options(url, (_request, reply) => reply.code(204).header("Allow", allowed).send());
      const refuse = async (): Promise<never> => {
        throw new Problem("method_not_allowed", `Allowed here: ${allowed}.`, [], { Allow: allowed });
      };
      // Every method of Node has been made known to the server above. The body of a refused one is not looked at.
      server.route({ url, method: missing as HTTPMethods[], onRequest: refuse, handler: refuse });
    }
  };
}
