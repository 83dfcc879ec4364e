// The operations of one resource, before the members that follow from the others are added: ids, scopes, parameters, errors.

import { type OperationName, operationNames } from "../declare/resource.ts";
import { camelCase, capitalize } from "../lib/case.ts";
import { type JsonSchema, listSchema, rowSchema } from "./json-schema.ts";
import type { ActionModel, CollectionActionModel, ResourceModel } from "./model.ts";
import type { Parameter } from "./operation-parameters.ts";
import type { Operation, Report } from "./operations.ts";

export interface OperationDraft extends Pick<Operation, "kind" | "method" | "path" | "output"> {
  /** Possible ids, in order of preference. */
  readonly ids: readonly string[];
  readonly container?: Operation["container"];
  readonly action?: ActionModel;
  readonly collectionAction?: CollectionActionModel;
  readonly report?: string;
  readonly input?: JsonSchema;
  readonly parameters?: readonly Parameter[];
  readonly summary?: string | undefined;
}

/** The standard operations, the actions, the nested collections and the reports of a resource. */
export function draftsOf(resource: ResourceModel, reports: readonly Report[]): OperationDraft[] {
  return [
    ...standardOperations(resource),
    ...actionOperations(resource),
    ...collectionActionOperations(resource),
    ...nestedOperations(resource),
    ...reports
      .filter((report) => report.resource === resource.name)
      .map((report) => reportOperation(resource, report)),
  ];
}

function standardOperations(resource: ResourceModel): OperationDraft[] {
  const { name, plural, segment, parent, schemas, operations } = resource;
  const collection = { path: collectionPath(resource), ...(parent && { container: parent }) };
  const item = { path: `/${segment}/{id}` };
  const row = rowSchema(resource);
  const drafts: Readonly<Record<OperationName, Omit<OperationDraft, "kind" | "ids">>> = {
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

function actionOperations(resource: ResourceModel): OperationDraft[] {
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

function collectionPath({ segment, parent }: ResourceModel): string {
  return parent ? `/${parent.reference!.target.segment}/{parentId}/${segment}` : `/${segment}`;
}

function collectionActionOperations(resource: ResourceModel): OperationDraft[] {
  const { plural, collectionActions } = resource;
  return [...collectionActions.values()].map((collectionAction) => ({
    kind: "collectionAction",
    ids: [
      ...(collectionAction.verb === undefined ? [] : [`${collectionAction.verb}${capitalize(plural)}`]),
      `create${capitalize(plural)}${capitalize(camelCase(collectionAction.name))}`,
    ],
    method: "POST",
    path: `${collectionPath(resource)}/${collectionAction.name}`,
    input: collectionAction.schemas.create,
    output: rowSchema(collectionAction.answer),
    collectionAction,
  }));
}

/** A collection under the rows that its own rows refer to, or under the tenant, can be listed and deleted as a whole. */
function nestedOperations(resource: ResourceModel): OperationDraft[] {
  const { plural, segment, nestedUnder } = resource;
  return nestedUnder.flatMap((container): OperationDraft[] => {
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

function reportOperation(
  resource: ResourceModel,
  { id, segment, parameters, output, summary }: Report,
): OperationDraft {
  const path = `/${resource.segment}/{id}/${segment}`;
  return { kind: "report", ids: [id], report: id, method: "GET", path, parameters, output, summary };
}
