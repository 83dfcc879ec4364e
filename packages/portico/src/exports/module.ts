import { users } from "../auth/users/resource.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import { exportRows } from "./operation.ts";

/** Exports: all rows of a collection in one response. */
export function exportsModule({ app }: ModuleOptions): Module {
  return {
    operations: [exportRows],
    paths: ["exports"],
    async start({ engine, model, logger }) {
      const { registerExportRoutes } = await import("./routes.ts");
      const names = [...app.resources, users].map(({ name }) => name);
      const resources = model.resources.filter(({ name }) => names.includes(name));
      return {
        register: (routes, { callerOf, verify, quotas }) =>
          registerExportRoutes(routes, {
            ...{ engine, resources, callerOf, verify },
            charge: (...charge) => quotas.chargeStream(...charge),
            onCut: (details) => logger.warn(details, "an export was cut off"),
          }),
      };
    },
  };
}
