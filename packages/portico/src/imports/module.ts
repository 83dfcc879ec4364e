import { servedVersions } from "../model/served-versions.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import { importableResources } from "./importable-resources.ts";
import { importRows } from "./operations.ts";

/** Imports: rows from lines of JSON or CSV, of any number. */
export function importsModule({ app }: ModuleOptions): Module {
  return {
    operations: [(model) => [...importableResources(model, app).values()].map(importRows)],
    paths: ["imports"],
    async start({ engine, model, report }) {
      const [{ registerImportRoutes }, { ImportSlots }] = await Promise.all([
        import("./routes.ts"),
        import("./import-slots.ts"),
      ]);
      const slots = new ImportSlots();
      const versions = servedVersions(model).map((version) => ({
        ...version,
        resources: importableResources(version, app),
      }));
      return {
        register: (routes, { callerOf, quotas, verify, requestTimeouts }) =>
          registerImportRoutes(routes, {
            ...{ engine, versions, slots, report, callerOf, verify },
            charge: (caller, tokens) => quotas.chargeStream(caller, tokens),
            withoutTimeout: (request) => requestTimeouts.exempt(request),
          }),
        stop: async () => slots.stop(),
      };
    },
  };
}
