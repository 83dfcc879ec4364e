import type { Module } from "../runtime/module.ts";
import { importRows } from "./operations.ts";

/** Imports: rows from lines of JSON or CSV, of any number. */
export function importsModule(): Module {
  return {
    operations: [importRows],
    paths: ["imports"],
    async start({ app, engine, model, report }) {
      const [{ registerImportRoutes }, { ImportSlots }, { importableResources }] = await Promise.all([
        import("./routes.ts"),
        import("./import-slots.ts"),
        import("./importable-resources.ts"),
      ]);
      const slots = new ImportSlots();
      const resources = importableResources(model, app);
      return {
        register: (routes, { callerOf, quotas, verify, requestTimeouts }) =>
          registerImportRoutes(routes, {
            ...{ engine, resources, slots, report, callerOf, verify },
            charge: (caller, tokens) => quotas.chargeStream(caller, tokens),
            withoutTimeout: (request) => requestTimeouts.exempt(request),
          }),
        stop: async () => slots.stop(),
      };
    },
  };
}
