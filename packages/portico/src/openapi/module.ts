import type { Module, ModuleOptions } from "../runtime/module.ts";
import { openApiRoute } from "./route.ts";

/** The description of the API at `/openapi.json`. */
export function openApiModule({ settings }: ModuleOptions): Module {
  return {
    paths: ["openapi.json"],
    describedRoutes: settings.servesDocs ? [openApiRoute] : [],
    async start({ app, model, urls, describedRoutes }) {
      if (!settings.servesDocs) return {};
      const { registerOpenApi } = await import("./serve.ts");
      return {
        registerOpen(routes, { quotas, addressOf }) {
          const api = urls.then((known) => ({ app, model, urls: known, routes: describedRoutes }));
          registerOpenApi(routes, api, ({ raw }) => quotas.countFile(addressOf(raw)));
        },
      };
    },
  };
}
