import type { Module } from "../runtime/module.ts";

/** The REST API of every resource. */
export function restModule(): Module {
  return {
    servesOperations: true,
    async start({ engine, model, store, reports, idempotentRequests, files }) {
      const { registerRest } = await import("./routes.ts");
      const readers = reports.map(({ id, reader }) => [id, reader({ engine, model, store })] as const);
      const readReports = Object.fromEntries(readers);
      return {
        register(routes, { basePath, callerOf, quotas }) {
          const chargeResponse: typeof quotas.chargeResponse = (...charge) =>
            quotas.chargeResponse(...charge);
          registerRest(routes, {
            idempotentRequests,
            fileUrl: (id) => files.urls.fileUrl(id),
            engine,
            reports: readReports,
            basePath,
            callerOf,
            chargeResponse,
          });
        },
      };
    },
  };
}
