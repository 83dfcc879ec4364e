// Makes the reference pages of an API from its model.

import { referencePath } from "../api/paths.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { App } from "../declare/app.ts";
import type { Quota } from "../declare/caller.ts";
import type { Model } from "../model/model.ts";
import { issuerOf } from "../oauth/endpoints/issuer.ts";
import type { Brand } from "../oauth/pages/brand.ts";
import { logoPath } from "../oauth/pages/layout.ts";
import { type DescribedApi, describeApi } from "../openapi/describe-api.ts";
import { Contents } from "./contents.ts";
import { ReferencePages } from "./pages.ts";

interface DescribedServer extends DescribedApi {
  readonly app: App;
  readonly brand: Brand;
  readonly settings: {
    readonly keyQuota: Quota;
    readonly failedAuthQuota: Quota;
    readonly webhookSchedule: readonly number[];
    readonly webhookTimeout: number;
  };
  /** The path of PUBLIC_URL. */
  readonly basePath: string;
  /** The path of the script and the style sheet, below that of the pages. */
  readonly files: string;
}

export function pagesOfApi({
  app,
  model,
  routes,
  urls,
  brand,
  settings,
  basePath,
  files,
}: DescribedServer): ReferencePages {
  const path = basePath + referencePath;
  return new ReferencePages({
    contents: new Contents(describeApi({ app, model, urls, routes }), declaredSegments(app, model)),
    name: brand.name,
    logo: logoUrl(urls, brand, model),
    ...{ urls, basePath, path, model },
    files: path + files,
    keyQuota: settings.keyQuota,
    failedAuthQuota: settings.failedAuthQuota,
    deliveries: { schedule: settings.webhookSchedule, timeoutSeconds: settings.webhookTimeout },
  });
}

/** The authorization server has the logo. The pages load nothing from another origin. */
function logoUrl(urls: OAuthUrls, brand: Brand, model: Model): string | undefined {
  const { origin, path } = issuerOf(urls, brand, model);
  if (!brand.logo || origin !== new URL(urls.resource).origin) return undefined;
  return `${path}${logoPath}?v=${brand.logo.version}`;
}

/** The first segments, after the version, of the paths that an app declares itself. */
function declaredSegments({ resources }: Pick<App, "resources">, model: Model): ReadonlySet<string> {
  const names = new Set<string>(resources.map(({ name }) => name));
  return new Set([
    ...model.resources.flatMap(({ name, segment }) => (names.has(name) ? [segment] : [])),
    ...model.routes.map(({ path }) => path.split("/")[1]!),
  ]);
}
