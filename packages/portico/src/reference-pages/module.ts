import type { Module, ModuleOptions } from "../runtime/module.ts";

/** Pages for people about the API, made from its OpenAPI description. */
export function referencePagesModule({ app, settings }: ModuleOptions): Module {
  return {
    paths: ["docs"],
    async start({ model, urls, oauth, describedRoutes }) {
      if (!settings.servesDocs) return {};
      const { registerReferencePages } = await import("./serve.ts");
      const { brand } = oauth.server.dependencies;
      return {
        registerOpen(routes, { quotas, addressOf, basePath }) {
          registerReferencePages(routes, basePath, {
            accent: brand.accent,
            count: ({ raw }) => quotas.countFile(addressOf(raw)),
            async pagesOf(files) {
              const { pagesOfApi } = await import("./pages-of-api.ts");
              return pagesOfApi({
                app,
                model,
                routes: describedRoutes,
                urls: await urls,
                brand,
                settings,
                basePath,
                files,
              });
            },
          });
        },
      };
    },
  };
}
