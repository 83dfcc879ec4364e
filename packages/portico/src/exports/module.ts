import { Pace } from "../jobs/pace.ts";
import { type ServedVersion, servedVersions } from "../model/served-versions.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import { exportableResources, exportEvents, exportRows } from "./operation.ts";

/** Bytes a second that all exports send together at most. */
const maxRate = 500e6;
/** The same while requests keep the thread busy. On PostgreSQL it parses what the database sends. */
const minRates = { sqlite: 40e6, postgres: 8e6 };

/** Exports: all rows of a collection in one response, or events. */
export function exportsModule({ app }: ModuleOptions): Module {
  return {
    operations: [(model) => exportableResources(model, app).map(exportRows), exportEvents],
    paths: ["exports"],
    async start({ engine, store, eventLog, visibleEvents, logger }) {
      const [{ registerExportRoutes }, { ExportCollections }, { RowExports }, { EventExports }] =
        await Promise.all([
          import("./routes.ts"),
          import("./export-collections.ts"),
          import("./row-exports.ts"),
          import("./event-exports.ts"),
        ]);
      const pace = new Pace({ minRate: minRates[store.dialect.name], maxRate });
      const collectionsIn = (version: ServedVersion) =>
        new ExportCollections(
          new RowExports(engine, app, version),
          new EventExports(eventLog, visibleEvents.resources, version),
        );
      return {
        register: (routes, { callerOf, verify, quotas }) =>
          registerExportRoutes(routes, {
            ...{ collectionsIn, callerOf, verify, pace },
            versions: servedVersions(engine.model),
            charge: (...charge) => quotas.chargeStream(...charge),
            onCut: (details) => logger.warn(details, "an export was cut off"),
          }),
      };
    },
  };
}
