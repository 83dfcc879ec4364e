// Deprecated operations and versions of the API announce it in every response, errors too.

import type { FastifyInstance } from "fastify";
import { announceDeprecation } from "../../api/deprecation-headers.ts";
import type { Deprecation } from "../../declare/field-options.ts";
import { originForm } from "../../lib/origin-form.ts";
import type { Model } from "../../model/model.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The deprecation of the operation. */
    deprecated?: Deprecation;
  }
}

export function announceDeprecations(server: FastifyInstance, { operations, olderVersions }: Model): void {
  const versions = new Map(
    olderVersions.flatMap(({ name, deprecated }) => (deprecated ? [[name, deprecated]] : [])),
  );
  if (versions.size === 0 && !operations.some(({ deprecated }) => deprecated)) return;
  server.addHook("onSend", (request, reply, payload, done) => {
    // No hook that sets the route has run for a request whose path cannot be parsed.
    const route = request.is404 ? undefined : request.route;
    const deprecated = route ? route.config.deprecated : versions.get(versionOf(request.url));
    // A successful response already announces the fields that the request names, with its operation.
    if (deprecated && !reply.hasHeader("Deprecation")) announceDeprecation(reply, [deprecated]);
    done(null, payload);
  });
}

/** What the path begins with: `v1` */
function versionOf(url: string): string {
  return originForm(url).split(/[/?]/, 2)[1] ?? "";
}
