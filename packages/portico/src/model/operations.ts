// The operations of an API as data. REST registers its routes from this list; whatever else describes or calls the API
// (OpenAPI, the typed client, MCP) reads the same list.

import type { Caller } from "../declare/caller.ts";
import type { Deprecation } from "../declare/field-options.ts";
import { type OperationName, operationNames } from "../declare/resource.ts";
import type { ErrorCode } from "../errors.ts";
import { capitalize } from "../lib/case.ts";
import { earliestDeprecation } from "./deprecation.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { ActionModel, Attribute, CollectionActionModel, Model, ResourceModel } from "./model.ts";
import { draftsOf, type OperationDraft } from "./operation-drafts.ts";
import { errorsOf } from "./operation-errors.ts";
import { type Parameter, parametersOf } from "./operation-parameters.ts";
import type { RouteModel } from "./route.ts";
import { routeOperation, routeOperationId } from "./route-operation.ts";
import { isVersioned, ownPrefixes, prefixesOfModules } from "./served-versions.ts";

export type OperationKind = OperationName | "deleteAll" | "action" | "collectionAction" | "report";

export interface Operation {
  /** Unique among all operations: `listPosts`, `getPost`, `rotateApiKey`. */
  readonly id: string;
  readonly kind: OperationKind;
  readonly resource: ResourceModel;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path without its version: `/posts/{id}` */
  readonly path: string;
  /** What comes before the path: `/v1`, and nothing if that is the current version. */
  readonly prefixes: readonly string[];
  readonly scope: string;
  /** Whether it needs no secret credential. */
  readonly isPublic: boolean;
  /** Those of the path, the query and the headers. */
  readonly parameters: readonly Parameter[];
  /** The JSON Schema of the request body. */
  readonly input: JsonSchema | undefined;
  /** The JSON Schema of the response body. */
  readonly output: JsonSchema | undefined;
  readonly errors: readonly ErrorCode[];
  /** The earliest dates of its own deprecation, and of those of its resource and its version. */
  readonly deprecated: Deprecation | undefined;
  /** What a nested collection belongs to: `/projects/{parentId}/issues`. */
  readonly container: Attribute | "tenant" | undefined;
  /** The action that an operation of this kind runs. */
  readonly action: ActionModel | undefined;
  readonly collectionAction: CollectionActionModel | undefined;
  /** The id of the report that an operation of this kind returns. */
  readonly report: string | undefined;
  /** What it does, if its kind does not say it. */
  readonly summary: string | undefined;
}

/** An operation of a module that belongs to no resource: `GET /grants`. The module registers its routes. */
export interface ModuleOperation
  extends Pick<
    Operation,
    "id" | "method" | "path" | "prefixes" | "parameters" | "input" | "output" | "errors"
  > {
  readonly kind: "module";
  /** Undefined for an operation that every credential can use. */
  readonly scope: string | undefined;
  /** The resource whose rows it reads or writes, for an operation with the scope of a resource: an export, an import. */
  readonly resource?: ResourceModel;
  /** Whether it needs no secret credential; by default it does. */
  readonly isPublic?: boolean;
  /** What it does, in a line without a full stop: `List grants`. */
  readonly summary?: string;
  readonly description?: string | undefined;
  /** The HTTP status of success; by default 200, or 204 without a body. */
  readonly status?: number;
  /** The schemas of the request body by media type, if it is not JSON. */
  readonly inputs?: Readonly<Record<string, JsonSchema>>;
  /** The schemas of the response body by media type, if it is not JSON, or not always. */
  readonly outputs?: Readonly<Record<string, JsonSchema>>;
  /** Headers that only its responses have. */
  readonly headers?: readonly string[];
  readonly deprecated?: Deprecation | undefined;
  /** Whether MCP offers it as a tool. */
  readonly isTool?: boolean;
}

/** An operation of a module, or a function that derives some from the model. */
export type DeclaredModuleOperation =
  | ModuleOperation
  | ((model: Pick<Model, "resource" | "selfEditable">) => ModuleOperation | readonly ModuleOperation[]);

/** What comes before the paths of a version. @param currentVersion the version that needs not be named */
export function prefixesOf(version: string, currentVersion: string): readonly string[] {
  return version === currentVersion ? ["", `/${version}`] : [`/${version}`];
}

/** The path of an operation as Fastify writes it: `/v1/posts/:id` */
export function routeOf({ path }: Pick<Operation, "path">, prefix: string): string {
  return prefix + path.replace(/\{(\w+)\}/g, ":$1");
}

/** The versions of an API. */
export interface Versions {
  /** The one whose paths are also served without a version. */
  readonly current: string;
  readonly older: readonly string[];
  /** The resources of the server itself, whose operations are in every version and always in `v1`. */
  readonly own: ReadonlySet<string>;
  /** The deprecations of versions by their names. */
  readonly deprecated: ReadonlyMap<string, Deprecation>;
}

/** A read about one row that returns something else than rows: `GET /api-keys/{id}/usage`. */
export interface Report {
  /** The id of its operation: `getApiKeyUsage` */
  readonly id: string;
  /** The name of the resource. */
  readonly resource: string;
  /** The last segment of the path. */
  readonly segment: string;
  /** What it returns, in a line without a full stop: `Get the usage of an API key`. */
  readonly summary?: string;
  readonly parameters: readonly Parameter[];
  readonly output: JsonSchema;
}

/**
 * Reads a report on a row.
 * @param parameters the query parameters of the request by name
 */
export type ReadReport = (
  caller: Caller,
  id: string,
  parameters: Readonly<Record<string, string>>,
) => Promise<readonly unknown[]>;

/** The operations of the exposed resources, in the order of the resources, those of modules, and the routes. */
export function operationsOf(
  resources: readonly ResourceModel[],
  versions: Versions,
  reports: readonly Report[],
  ofModules: readonly ModuleOperation[],
  routes: readonly RouteModel[] = [],
): readonly (Operation | ModuleOperation)[] {
  const ids = new Set(ofModules.map(({ id }) => id));
  const current = ofModules.map((each) =>
    isVersioned(each) ? Object.freeze({ ...each, prefixes: prefixesOfModules(versions) }) : each,
  );
  const operations = resourceOperations(resources, versions, reports, ids);
  const ofRoutes = routes.map((route) => {
    const id = unusedId([routeOperationId(route)], ids);
    ids.add(id);
    return routeOperation(id, route);
  });
  return Object.freeze([...operations, ...current, ...ofRoutes]);
}

/**
 * The operations of exposed resources in an older version, and those of modules. Their ids end with it: `listPostsV1`.
 * @param ids of all other operations; those of the result are added
 */
export function olderOperationsOf(
  version: string,
  resources: readonly ResourceModel[],
  versions: Versions,
  reports: readonly Report[],
  ofModules: readonly ModuleOperation[],
  ids: Set<string>,
): readonly (Operation | ModuleOperation)[] {
  const deprecated = versions.deprecated.get(version);
  const older = ofModules.filter(isVersioned).map((each): ModuleOperation => {
    const id = unusedId([each.id + capitalize(version)], ids);
    ids.add(id);
    return Object.freeze({ ...each, id, prefixes: [`/${version}`], ...(deprecated && { deprecated }) });
  });
  return Object.freeze([...resourceOperations(resources, versions, reports, ids), ...older]);
}

function resourceOperations(
  resources: readonly ResourceModel[],
  versions: Versions,
  reports: readonly Report[],
  ids: Set<string>,
): Operation[] {
  // One that only an older version has needs none.
  const suffixOf = ({ current, version }: ResourceModel): string =>
    current && current.version !== version ? capitalize(version) : "";
  return resources
    .filter(({ isExposed }) => isExposed)
    .flatMap((resource) =>
      draftsOf(resource, reports).map((draft) => {
        const candidates = draft.ids.map((id) => id + suffixOf(resource));
        const id = unusedId(candidates, ids);
        ids.add(id);
        return operationOf(id, resource, versions, draft);
      }),
    );
}

function operationOf(
  id: string,
  resource: ResourceModel,
  versions: Versions,
  draft: OperationDraft,
): Operation {
  const { kind, method, path, container, input, output } = draft;
  const { action, collectionAction, report, summary } = draft;
  const { version, scopes, access } = resource;
  return Object.freeze({
    ...{ id, kind, resource, method, path },
    prefixes: [
      ...(!resource.current && versions.own.has(resource.name) ? ownPrefixes(versions) : []),
      ...prefixesOf(version, versions.current),
    ],
    scope: method === "GET" ? scopes.read : scopes.write,
    isPublic: (kind === "list" || kind === "get") && access[kind].isPublic,
    parameters: parametersOf(resource, draft),
    input,
    output,
    errors: errorsOf(resource, draft),
    deprecated: earliestDeprecation([
      (action ?? collectionAction)?.deprecated ?? ownDeprecation(resource, kind),
      resource.deprecated,
      versions.deprecated.get(version),
    ]),
    container: container === "tenant" ? container : (container?.current ?? container),
    action,
    collectionAction,
    report,
    summary,
  });
}

/** The deprecation of a standard operation. Deleting a nested collection deletes rows. */
function ownDeprecation(
  { deprecatedOperations }: ResourceModel,
  kind: OperationKind,
): Deprecation | undefined {
  const name = operationNames.find((each) => each === (kind === "deleteAll" ? "delete" : kind));
  return name && deprecatedOperations[name];
}

function unusedId(candidates: readonly string[], used: ReadonlySet<string>): string {
  const free = candidates.find((candidate) => !used.has(candidate));
  if (free !== undefined) return free;
  let id = candidates.at(-1)!;
  while (used.has(id)) id += "_";
  return id;
}
