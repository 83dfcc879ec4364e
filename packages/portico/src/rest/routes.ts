// REST: registers a route for each operation of the model.

import type { FastifyInstance } from "fastify";
import type { Operation } from "../model/operations.ts";
import { OperationHandlers, type RestOptions } from "./handlers.ts";

export type { RestOptions } from "./handlers.ts";

export function registerRest(server: FastifyInstance, options: RestOptions): void {
  for (const operation of options.engine.model.operations) {
    for (const prefix of operation.prefixes) {
      const handlers = new OperationHandlers(options, operation, prefix);
      server.route({
        method: operation.method,
        url: routeOf(operation, prefix),
        handler: handlers[operation.kind],
        config: operation.kind === "action" ? { needsNoBody: true } : {},
      });
    }
  }
}

/** The path as Fastify writes it: `/v1/posts/:id` */
export function routeOf({ path }: Operation, prefix: string): string {
  return prefix + path.replace(/\{(\w+)\}/g, ":$1");
}
