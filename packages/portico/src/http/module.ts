import type { FastifyRequest } from "fastify";
import { issuerOf } from "../oauth/endpoints/issuer.ts";
import type { Module } from "../runtime/module.ts";
import { serverRoutes } from "./described-routes.ts";

/** Health checks, and a front page at `/`. */
export function httpModule(): Module {
  return {
    describedRoutes: serverRoutes,
    paths: ["", "healthz", "readyz"],
    async start({ store, urls, settings, oauth: { server } }) {
      const [{ registerHealth }, { registerFrontPage }] = await Promise.all([
        import("./health.ts"),
        import("./front-page.ts"),
      ]);
      return {
        registerOpen(routes, { quotas, addressOf }) {
          const { brand, model } = server.dependencies;
          registerHealth(routes, store.database);
          const issuer = urls.then((known) => issuerOf(known, brand, model));
          const count = ({ raw }: FastifyRequest): Promise<void> => quotas.countFile(addressOf(raw));
          registerFrontPage(routes, issuer, count, settings.servesDocs);
        },
      };
    },
  };
}
