import type { Module } from "../runtime/module.ts";
import type { RestOptions } from "./handlers.ts";

/** The REST API of every resource. */
export function restModule(): Module {
  return {
    async start({ engine, model, store }) {
      const [{ registerRest }, { KeyUsage, keyUsageReport }] = await Promise.all([
        import("./routes.ts"),
        import("../usage/key-usage.ts"),
      ]);
      const keyUsage = new KeyUsage(model, store);
      const reports: RestOptions["reports"] = {
        [keyUsageReport.id]: (...request) => keyUsage.read(...request),
      };
      return {
        register(routes, { basePath, callerOf, quotas }) {
          const chargeResponse: typeof quotas.chargeResponse = (...charge) =>
            quotas.chargeResponse(...charge);
          registerRest(routes, { engine, reports, basePath, callerOf, chargeResponse });
        },
      };
    },
  };
}
