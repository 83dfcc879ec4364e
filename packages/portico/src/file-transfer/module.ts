import type { App } from "../declare/app.ts";
import { removalWork } from "../files/removal.ts";
import { storedFilesTable } from "../files/table.ts";
import { routeOf } from "../model/operations.ts";
import { servedVersions } from "../model/served-versions.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import { fileRoutes } from "./described-routes.ts";
import { createUpload } from "./operations.ts";
import { canUploadBy } from "./uploader.ts";

/** Files: uploads, by a form or by a signed URL, and downloads. */
export function filesModule({ app, settings }: ModuleOptions): Module {
  const tables = [storedFilesTable];
  if (!hasFiles(app)) return { tables };
  return {
    tables,
    operations: [createUpload],
    describedRoutes: fileRoutes,
    paths: ["files", "uploads"],
    async start({ store, model, files, principals, report, idempotentRequests }) {
      const [{ Uploads }, { acceptForms }, { announceHandler, contentHandler }, { downloadHandler }] =
        await Promise.all([
          import("./uploads.ts"),
          import("./received-form.ts"),
          import("./upload-routes.ts"),
          import("./download.ts"),
        ]);
      const { urls, storage } = files;
      const uploads = new Uploads(store, storage, settings.storageLimit * 1e6);
      return {
        tasks: removalWork(store, storage),
        register(routes, { callerOf, quotas, requestTimeouts }) {
          const options = {
            ...{ uploads, model, store, urls, callerOf, report, idempotentRequests },
            charge: quotas.chargeStream.bind(quotas),
            withoutTimeout: requestTimeouts.exempt.bind(requestTimeouts),
          };
          acceptForms(routes, options);
          for (const { prefix, config, resource } of servedVersions(model))
            routes.post(
              routeOf(createUpload, prefix),
              { config: { ...config, takesIdempotencyKey: true } },
              announceHandler(options, { resource }),
            );
        },
        registerOpen(open, { requestTimeouts }) {
          const config = { streamsBody: true, ignoresAccept: true };
          open.get("/v1/files/:id", { config }, downloadHandler({ store, storage, urls }));
          const withoutTimeout = requestTimeouts.exempt.bind(requestTimeouts);
          open.removeAllContentTypeParsers();
          open.addContentTypeParser("*", (_request, _body, done) => done(null));
          open.put(
            "/v1/uploads/:id",
            { config },
            contentHandler({
              ...{ store, uploads, urls, model, withoutTimeout },
              canUpload: canUploadBy(principals),
            }),
          );
        },
      };
    },
  };
}

function hasFiles({ resources }: App): boolean {
  return resources.some(({ fields }) => Object.values(fields).some(({ kind }) => kind === "file"));
}
