import { mcpPath } from "../api/paths.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import type { Offer } from "./sdk-server.ts";

/** MCP, by which assistants call the operations of the API as tools. */
export function mcpModule({ app, settings }: ModuleOptions): Module {
  return {
    // Its path is reserved in any case, so that it can be switched on later.
    paths: ["mcp", ".well-known"],
    async start({ model, urls, report, logger }) {
      if (!app.mcp) return {};
      const [{ registerMcp }, { registerResourceMetadata }, { sdkLoader }] = await Promise.all([
        import("./endpoint.ts"),
        import("./resource-metadata.ts"),
        import("./sdk.ts"),
      ]);
      // Created with the first request: it takes megabytes for an API of a hundred resources.
      let offered: Offer | undefined;
      const offer = async (): Promise<Offer> => {
        const { offerOf } = await import("./offer.ts");
        offered ??= offerOf(model);
        return offered;
      };
      const { corsOrigins } = settings;
      const mayConnect = async (origin: string): Promise<boolean> =>
        corsOrigins === "*" ||
        corsOrigins?.includes(origin) === true ||
        origin === new URL((await urls).resource).origin;
      return {
        registerOpen: (routes, { basePath }) =>
          registerResourceMetadata(routes, {
            ...{ urls, basePath, path: mcpPath },
            ...{ name: app.name, offer },
          }),
        register: (routes, { callerOf, quotas, inProcess, addressOf }) =>
          registerMcp(routes, {
            ...{ offer, callerOf, addressOf, mayConnect },
            loadSdk: sdkLoader(() => import("@modelcontextprotocol/server"), report),
            fetch: (...request) => inProcess.fetch(...request),
            onInternalError: (err) => logger.error({ err }, "call of a tool failed"),
            countMessage: (...message) => quotas.countOperation(...message),
          }),
      };
    },
  };
}
