// REST: registers a route for each operation on a resource.

import type { FastifyInstance } from "fastify";
import { type Operation, routeOf } from "../model/operations.ts";
import { OperationHandlers, type RestOptions } from "./handlers.ts";
import { idempotentHandler } from "./idempotent-handler.ts";

export type { RestOptions } from "./handlers.ts";

export function registerRest(server: FastifyInstance, options: RestOptions): void {
  const { operations, olderVersions } = options.engine.model;
  for (const operation of [...operations, ...olderVersions.flatMap((version) => version.operations)]) {
    if (operation.kind === "module") continue;
    for (const prefix of operation.prefixes) {
      const handlers = new OperationHandlers(options, operation, prefix);
      const takesIdempotencyKey = canBeRepeatedByKey(operation);
      server.route({
        method: operation.method,
        url: routeOf(operation, prefix),
        handler: takesIdempotencyKey
          ? idempotentHandler(handlers[operation.kind], operation, options, prefix)
          : handlers[operation.kind],
        config: {
          takesIdempotencyKey,
          ...((operation.kind === "action" || operation.kind === "collectionAction") && {
            needsNoBody: true,
          }),
          ...(operation.isPublic && { isPublic: true }),
          ...(operation.deprecated && { deprecated: operation.deprecated }),
          ...(takesFiles(operation) && { takesForms: operation.resource }),
        },
      });
    }
  }
}

/** Whether a body can have files. */
function takesFiles({ kind, resource }: Operation): boolean {
  const hasBody = kind === "create" || kind === "replace" || kind === "update";
  return hasBody && resource.files.some(({ isReadOnly }) => !isReadOnly);
}

/** Whether the method is not idempotent (RFC 9110, section 9.2.2). */
function canBeRepeatedByKey({ method }: Operation): boolean {
  return method === "POST" || method === "PATCH";
}
