import { issuerOf } from "../oauth/endpoints/issuer.ts";
import type { Module } from "../runtime/module.ts";

/** Health checks, and a front page at `/`. */
export function httpModule(): Module {
  return {
    paths: ["", "healthz", "readyz"],
    async start({ store, urls, oauth: { server } }) {
      const [{ registerHealth }, { registerFrontPage }] = await Promise.all([
        import("./health.ts"),
        import("./front-page.ts"),
      ]);
      return {
        registerOpen(routes, { quotas, addressOf }) {
          const { brand, model } = server.dependencies;
          registerHealth(routes, store.database);
          const issuer = urls.then((known) => issuerOf(known, brand, model));
          registerFrontPage(routes, issuer, ({ raw }) => quotas.countFile(addressOf(raw)));
        },
      };
    },
  };
}
