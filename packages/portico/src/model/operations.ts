// The operations of an API as data. REST registers its routes from this list; whatever else describes or calls the API
// (OpenAPI, the typed client, MCP) reads the same list.

import type { Caller } from "../declare/caller.ts";
import { type LooseHooks, type OperationName, operationNames } from "../declare/resource.ts";
import type { ErrorCode } from "../errors.ts";
import { camelCase, capitalize } from "../lib/case.ts";
import { type JsonSchema, listSchema, rowSchema } from "./json-schema.ts";
import type { ActionModel, Attribute, ResourceModel } from "./model.ts";
import { type Parameter, parametersOf } from "./operation-parameters.ts";

export type OperationKind = OperationName | "deleteAll" | "action" | "report";

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
  /** What a nested collection belongs to: `/projects/{parentId}/issues`. */
  readonly container: Attribute | "tenant" | undefined;
  /** The action that an operation of this kind runs. */
  readonly action: ActionModel | undefined;
}

/** An operation of a module on something that is no resource: `GET /grants`. The module registers its routes. */
export interface ModuleOperation
  extends Pick<
    Operation,
    "id" | "method" | "path" | "prefixes" | "parameters" | "input" | "output" | "errors"
  > {
  readonly kind: "module";
  /** Undefined for an operation that every credential can use. */
  readonly scope: string | undefined;
}

/** The path of an operation as Fastify writes it: `/v1/posts/:id` */
export function routeOf({ path }: Pick<Operation, "path">, prefix: string): string {
  return prefix + path.replace(/\{(\w+)\}/g, ":$1");
}

/** A read about one row that returns something else than rows: `GET /api-keys/{id}/usage`. */
export interface Report {
  /** The id of its operation: `getApiKeyUsage` */
  readonly id: string;
  /** The name of the resource. */
  readonly resource: string;
  /** The last segment of the path. */
  readonly segment: string;
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

/** An operation before the members that follow from the others are added. */
interface Draft extends Pick<Operation, "kind" | "method" | "path" | "output"> {
  /** In order of preference. */
  readonly ids: readonly string[];
  readonly container?: Operation["container"];
  readonly action?: ActionModel;
  readonly input?: JsonSchema;
  readonly parameters?: readonly Parameter[];
}

/**
 * The operations of the exposed resources, in the order of the resources, and those of modules.
 * @param currentVersion the version whose paths are also served without a version
 */
export function operationsOf(
  resources: readonly ResourceModel[],
  currentVersion: string,
  reports: readonly Report[],
  ofModules: readonly ModuleOperation[],
): readonly (Operation | ModuleOperation)[] {
  const ids = new Set(ofModules.map(({ id }) => id));
  const operations = resources
    .filter(({ isExposed }) => isExposed)
    .flatMap((resource) =>
      draftsOf(resource, reports).map((draft) => {
        const id = unusedId(draft.ids, ids);
        ids.add(id);
        return operationOf(id, resource, currentVersion, draft);
      }),
    );
  return Object.freeze([...operations, ...ofModules]);
}

function operationOf(id: string, resource: ResourceModel, currentVersion: string, draft: Draft): Operation {
  const { kind, method, path, container, input, output, action } = draft;
  const { version, scopes, access } = resource;
  return Object.freeze({
    ...{ id, kind, resource, method, path },
    prefixes: version === currentVersion ? ["", `/${version}`] : [`/${version}`],
    scope: method === "GET" ? scopes.read : scopes.write,
    isPublic: (kind === "list" || kind === "get") && access[kind].isPublic,
    parameters: parametersOf(resource, draft),
    input,
    output,
    errors: errorsOf(resource, draft),
    container,
    action,
  });
}

function unusedId(candidates: readonly string[], used: ReadonlySet<string>): string {
  const free = candidates.find((candidate) => !used.has(candidate));
  if (free !== undefined) return free;
  let id = candidates.at(-1)!;
  while (used.has(id)) id += "_";
  return id;
}

function draftsOf(resource: ResourceModel, reports: readonly Report[]): Draft[] {
  return [
    ...standardOperations(resource),
    ...actionOperations(resource),
    ...nestedOperations(resource),
    ...reports
      .filter((report) => report.resource === resource.name)
      .map((report) => reportOperation(resource, report)),
  ];
}

function standardOperations(resource: ResourceModel): Draft[] {
  const { name, plural, segment, parent, schemas, operations } = resource;
  const collection = parent
    ? { path: `/${parent.reference!.target.segment}/{parentId}/${segment}`, container: parent }
    : { path: `/${segment}` };
  const item = { path: `/${segment}/{id}` };
  const row = rowSchema(resource);
  const drafts: Readonly<Record<OperationName, Omit<Draft, "kind" | "ids">>> = {
    list: { method: "GET", ...collection, output: listSchema(resource) },
    get: { method: "GET", ...item, output: row },
    create: { method: "POST", ...collection, input: schemas.create, output: row },
    replace: { method: "PUT", ...item, input: schemas.replace, output: row },
    update: { method: "PATCH", ...item, input: schemas.update, output: row },
    delete: { method: "DELETE", ...item, output: undefined },
  };
  return operationNames
    .filter((kind) => operations.has(kind))
    .map((kind) => ({ ...drafts[kind], kind, ids: [kind + capitalize(kind === "list" ? plural : name)] }));
}

function actionOperations(resource: ResourceModel): Draft[] {
  const { name, segment, actions } = resource;
  return [...actions.values()].map((action) => ({
    kind: "action",
    ids: [
      ...(action.verb === undefined ? [] : [`${action.verb}${capitalize(name)}`]),
      `create${capitalize(name)}${capitalize(camelCase(action.name))}`,
    ],
    method: "POST",
    path: `/${segment}/{id}/${action.name}`,
    input: action.schemas.create,
    output: rowSchema(resource),
    action,
  }));
}

/** A collection under the rows that its own rows refer to, or under the tenant, can be listed and deleted as a whole. */
function nestedOperations(resource: ResourceModel): Draft[] {
  const { plural, segment, nestedUnder } = resource;
  return nestedUnder.flatMap((container): Draft[] => {
    const [containers, name] =
      container === "tenant"
        ? ["tenants", "tenant"]
        : [container.reference!.target.segment, container.reference!.name];
    const nested = { path: `/${containers}/{id}/${segment}`, container };
    const title = `${capitalize(name)}${capitalize(plural)}`;
    return [
      { ...nested, kind: "list", ids: [`list${title}`], method: "GET", output: listSchema(resource) },
      { ...nested, kind: "deleteAll", ids: [`delete${title}`], method: "DELETE", output: undefined },
    ];
  });
}

function reportOperation(resource: ResourceModel, { id, segment, parameters, output }: Report): Draft {
  const path = `/${resource.segment}/{id}/${segment}`;
  return { kind: "report", ids: [id], method: "GET", path, parameters, output };
}

/** The errors that any operation can return. */
export const commonErrors: readonly ErrorCode[] = [
  "malformed_request",
  "credential_in_query",
  "authentication_required",
  "invalid_credential",
  "wrong_environment",
  "insufficient_scope",
  "not_acceptable",
  "validation_error",
  "rate_limited",
  "internal_error",
  "unavailable",
];

function errorsOf(
  { refusable, hooks, paging, requiresIdempotencyKey }: ResourceModel,
  { kind, method, path, input }: Draft,
): ErrorCode[] {
  const hasInput = input !== undefined;
  const isRepeatable = method === "POST" || method === "PATCH";
  const possible: readonly [code: ErrorCode, isPossible: boolean][] = [
    ["invalid_cursor", kind === "list" && paging === "cursor"],
    ["not_found", path.includes("{")],
    ["conflict", method !== "GET"],
    ["forbidden", mayRefuse(kind, refusable) || runsCode(kind, hooks)],
    ["precondition_failed", ["get", "replace", "update", "delete"].includes(kind)],
    ["idempotency_key_required", isRepeatable && requiresIdempotencyKey],
    ["idempotency_in_progress", isRepeatable],
    ["idempotency_key_reused", isRepeatable],
    ["payload_too_large", hasInput],
    ["unsupported_media_type", hasInput],
  ];
  return [...commonErrors, ...possible.filter(([, isPossible]) => isPossible).map(([code]) => code)];
}

/** Whether a policy may refuse an operation on a row that the caller can read. */
function mayRefuse(kind: OperationKind, refusable: ResourceModel["refusable"]): boolean {
  if (kind === "create" || kind === "delete") return refusable.has(kind);
  return (kind === "replace" || kind === "update" || kind === "action") && refusable.has("update");
}

/** Whether an operation runs a hook or an action, which may refuse the write. PUT runs the hooks of updates. */
function runsCode(kind: OperationKind, { before, after }: LooseHooks): boolean {
  if (kind === "action") return true;
  const name = kind === "replace" ? "update" : kind === "deleteAll" ? "delete" : kind;
  if (name !== "create" && name !== "update" && name !== "delete") return false;
  return before?.[name] !== undefined || after?.[name] !== undefined;
}
