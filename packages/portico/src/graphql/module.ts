import type { Module, ModuleOptions } from "../runtime/module.ts";
import { graphqlLimitsOf } from "../runtime/settings/settings.ts";
import { graphqlRoutes } from "./described-routes.ts";

/** GraphQL over HTTP, with subscriptions and GraphiQL. */
export function graphqlModule({ settings }: ModuleOptions): Module {
  return {
    describedRoutes: graphqlRoutes,
    paths: ["graphql"],
    async start({ engine, eventLog, hub, logger, idempotentRequests, files }) {
      const [{ graphqlPath, registerGraphql }, { handleUpgrades }, { credentialOf }] = await Promise.all([
        import("./transports/http.ts"),
        import("../http/upgrade.ts"),
        import("../http/logging/request-log.ts"),
      ]);
      return {
        register(routes, http) {
          const { quotas, received, addressOf } = http;
          const { basePath, callerOf, authenticate, verify } = http;
          const onInternalError = (err: unknown): void =>
            logger.error({ err }, "operation of a stream failed");
          const streams = registerGraphql(routes, {
            ...{
              idempotentRequests,
              engine,
              eventLog,
              hub,
              basePath,
              callerOf,
              addressOf,
              authenticate,
              verify,
              onInternalError,
            },
            fileUrl: (id) => files.urls.fileUrl(id),
            limits: graphqlLimitsOf(settings),
            count: (caller) => quotas.countOperation(caller),
            countFile: ({ raw }) => quotas.countFile(addressOf(raw)),
            takeTokens: (...cost) => quotas.takeCost(...cost),
            chargeResponse: (...charge) => quotas.chargeResponse(...charge),
            receive: (refuse) => received.begin(refuse),
            logSocket: (line, caller) =>
              logger.info({ ...line, ...(caller && credentialOf(caller)) }, "web socket closed"),
          });
          handleUpgrades(routes.server, graphqlPath, (...request) => streams.openSocket(...request));
        },
      };
    },
  };
}
