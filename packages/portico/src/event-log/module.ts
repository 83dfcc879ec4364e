import { PositionCursors } from "../query/position-cursors.ts";
import type { Module } from "../runtime/module.ts";
import { getEvent, listEvents } from "./operations.ts";

/** The event log: what happened to the rows that a caller sees. */
export function eventLogModule(): Module {
  return {
    operations: [listEvents, getEvent],
    paths: ["events"],
    async start({ eventReader, visibleEvents, secrets }) {
      const [{ EventLog }, { registerEventRoutes }] = await Promise.all([
        import("./event-log.ts"),
        import("./routes.ts"),
      ]);
      const log = new EventLog(eventReader, visibleEvents, new PositionCursors(secrets, "events"));
      const { resources } = visibleEvents;
      return {
        register: (routes, { basePath, callerOf, quotas }) =>
          registerEventRoutes(routes, {
            ...{ log, resources, basePath, callerOf },
            chargeResponse: (...charge) => quotas.chargeResponse(...charge),
          }),
      };
    },
  };
}
