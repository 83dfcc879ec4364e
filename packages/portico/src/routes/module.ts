import type { Module } from "../runtime/module.ts";

/** The routes that the app declares. */
export function routesModule(): Module {
  return {
    // Their paths may begin with those of resources. `requireFreeRoutes` checks them.
    servesOperations: true,
    async start({ engine, idempotentRequests }) {
      if (engine.model.routes.length === 0) return {};
      const { registerRoutes } = await import("./routes.ts");
      return {
        register: (routes, { basePath, callerOf, quotas }) =>
          registerRoutes(routes, {
            ...{ engine, idempotentRequests, basePath, callerOf },
            chargeResponse: (...charge) => quotas.chargeResponse(...charge),
          }),
      };
    },
  };
}
