import { servedVersions } from "../model/served-versions.ts";
import type { Module } from "../runtime/module.ts";
import { getEvent, listEvents } from "./operations.ts";

/** The event log: what happened to the rows that a caller sees. */
export function eventLogModule(): Module {
  return {
    operations: [listEvents, getEvent],
    paths: ["events"],
    async start({ eventLog: log, visibleEvents: { resources }, model }) {
      const { registerEventRoutes } = await import("./routes.ts");
      return {
        register: (routes, { basePath, callerOf, quotas }) =>
          registerEventRoutes(routes, {
            ...{ log, resources, basePath, callerOf, versions: servedVersions(model) },
            chargeResponse: (...charge) => quotas.chargeResponse(...charge),
          }),
      };
    },
  };
}
