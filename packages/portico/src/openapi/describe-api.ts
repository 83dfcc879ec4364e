// The description of an API by the OpenAPI Specification 3.1.1, made from the operations of its model.

import type { DescribedRoute } from "../api/described-route.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { App } from "../declare/app.ts";
import type { Model } from "../model/model.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import { Components } from "./components.ts";
import { describeRoute, locationOf } from "./described-routes.ts";
import type {
  HttpMethod,
  OpenApiDescription,
  OperationObject,
  PathItem,
  ServerObject,
} from "./description.ts";
import { describeOperation } from "./operation.ts";
import { securitySchemes } from "./security.ts";
import { Tags } from "./tags.ts";
import { webhooksOf, webhooksTag } from "./webhooks.ts";

/** An API to describe. */
export interface DescribedApi {
  readonly app: Pick<App, "description" | "contact" | "license" | "termsOfService">;
  readonly model: Model;
  /** Where callers reach the API. */
  readonly urls: OAuthUrls;
  /** Routes besides the operations of the model. */
  readonly routes: readonly DescribedRoute[];
}

/** Describes all operations of an API. All versions are in one description, so paths begin with theirs. */
export function describeApi({ app, model, urls, routes }: DescribedApi): OpenApiDescription {
  const components = new Components();
  const tags = new Tags(model);
  const paths = new Paths();
  const prefixes = new Map(model.resources.map(({ segment, idPrefix }) => [segment, idPrefix]));
  const older = model.olderVersions.flatMap((version) => version.operations);
  for (const operation of [...model.operations, ...older]) {
    const idPrefix = prefixes.get(operation.path.split("/")[1]!);
    const object = describeOperation(operation, tags.of(operation), idPrefix, components);
    paths.add(versionedPath(operation), operation.method, object);
  }
  for (const route of routes) {
    const { path, server } = locationOf(route, urls);
    tags.use(route.tag);
    paths.add(path, route.method, describeRoute(route, components), server);
  }
  const webhooks = webhooksOf(model, components);
  const hasWebhooks = Object.keys(webhooks).length > 0;
  return {
    openapi: "3.1.1",
    info: infoOf(app, model, urls),
    servers: [{ url: urls.resource }],
    tags: [...tags.used, ...(hasWebhooks ? [webhooksTag] : [])],
    paths: paths.toObject(),
    ...(hasWebhooks && { webhooks }),
    components: components.toObject(securitySchemes(model, urls)),
  };
}

function infoOf(
  { description, contact, license, termsOfService }: DescribedApi["app"],
  { name, version }: Model,
  { resource }: OAuthUrls,
): OpenApiDescription["info"] {
  return {
    title: name,
    version,
    description: description === undefined ? introduction : `${description}\n\n${introduction}`,
    contact: contact ?? { name, url: resource },
    ...(license && { license }),
    ...(termsOfService !== undefined && { termsOfService }),
  };
}

const introduction = `Most requests need a credential: an API key or an access token in the header \`Authorization: Bearer ...\`, or a key in
\`X-API-Key\`. Bodies are JSON in UTF-8, and every error has the same shape. \`HEAD\` is answered wherever
\`GET\` is, except by exports.

Collections are returned in pages: repeat the request with \`cursor\` set to \`pagination.nextCursor\` until that is null.
Requests with \`Idempotency-Key\` can be repeated safely.`;

/** The path with the version of the operation: `/v1/posts/{id}` */
function versionedPath({ path, prefixes }: Operation | ModuleOperation): string {
  return `${prefixes.at(-1)}${path}`;
}

/** The operations by their paths. Paths that differ only in the names of their parameters are one (section 4.8.8). */
class Paths {
  readonly #items = new Map<string, { path: string; item: Record<string, unknown> }>();

  add(path: string, method: string, operation: OperationObject, server?: ServerObject): void {
    const pattern = path.replaceAll(/\{\w+\}/g, "{}");
    let known = this.#items.get(pattern);
    if (!known) {
      known = { path, item: server ? { servers: [server] } : {} };
      this.#items.set(pattern, known);
    }
    known.item[method.toLowerCase() as HttpMethod] =
      known.path === path ? operation : withNames(operation, names(path), names(known.path));
  }

  toObject(): Readonly<Record<string, PathItem>> {
    return Object.fromEntries([...this.#items.values()].map(({ path, item }) => [path, item]));
  }
}

function names(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** The operation with other names of the parameters in its path. */
function withNames(
  { parameters = [], ...operation }: OperationObject,
  own: readonly string[],
  others: readonly string[],
): OperationObject {
  const renamed = parameters.map((each) =>
    "in" in each && each.in === "path" ? { ...each, name: others[own.indexOf(each.name)]! } : each,
  );
  return { ...operation, parameters: renamed };
}
