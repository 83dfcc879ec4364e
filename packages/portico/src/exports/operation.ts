// The operations that export rows and events, as data.

import type { App } from "../declare/app.ts";
import { listEvents } from "../event-log/operations.ts";
import { capitalize, spaceCase } from "../lib/case.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { commonErrors } from "../model/operation-errors.ts";
import {
  type Parameter,
  pagingParameters,
  parametersOf,
  queryParameter,
} from "../model/operation-parameters.ts";
import type { ModuleOperation } from "../model/operations.ts";

/** The default and the maximum number of rows. */
export const maxRows = 1_000_000;

export const formats = ["ndjson", "csv"] as const;
export type FormatName = (typeof formats)[number];

export const mediaTypes: Readonly<Record<FormatName, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
};

/** The parameters of every export, besides those of the list of the same rows. */
export const commonParameters: readonly Parameter[] = [
  queryParameter("format", { type: "string", enum: formats, default: "ndjson" }, "The format of the rows."),
  queryParameter(
    "formulas",
    { type: "string", enum: ["escape", "keep"], default: "escape" },
    "For CSV: `keep` puts no apostrophe before text that a spreadsheet would run as a formula.",
  ),
  queryParameter(
    "limit",
    { type: "integer", minimum: 1, maximum: maxRows, default: maxRows },
    "The maximum number of rows.",
  ),
  queryParameter(
    "after",
    { type: "string" },
    "The id of a row. Only rows after it in the order of the export are returned.",
  ),
];

export const rowParameters: readonly Parameter[] = [
  ...commonParameters,
  queryParameter(
    "total",
    { type: "boolean", default: false },
    "Whether to count the rows first, and send their number in `Total-Count`.",
  ),
];

const notForEvents = ["sort", "limit", "after", ...pagingParameters];

export const eventFilters: readonly Parameter[] = listEvents.parameters.filter(
  ({ name }) => !notForEvents.includes(name),
);

const outputs: ModuleOperation["outputs"] = {
  [mediaTypes.ndjson]: { type: "string", description: "Each line is a row as JSON." },
  [mediaTypes.csv]: {
    type: "string",
    description: "A line with the names of the columns, and one for each row.",
  },
};

const shared = {
  kind: "module",
  method: "GET",
  prefixes: ["/v1"],
  input: undefined,
  output: undefined,
  outputs,
  headers: ["Content-Disposition"],
} as const;

/** The path of exports of rows, which the exports of each collection share. */
export const rowsPath = "/exports/{collection}";

/** The export of the rows of a resource. */
export function exportRows(resource: ResourceModel): ModuleOperation {
  const { plural, segment, scopes } = resource;
  return Object.freeze<ModuleOperation>({
    ...shared,
    id: `export${capitalize(plural)}`,
    path: rowsPath.replace("{collection}", segment),
    scope: scopes.read,
    resource,
    summary: `Export ${spaceCase(plural)}`,
    description: `Returns all ${spaceCase(plural)} that the caller sees, or those that the filters select, in one response.`,
    parameters: [...rowParameters, ...listParametersOf(resource)],
    errors: [...commonErrors, "forbidden"],
    headers: [...shared.headers, "Total-Count"],
  });
}

/** The parameters of the list of a resource that its exports have as well. */
export function listParametersOf(resource: ResourceModel): readonly Parameter[] {
  const own = [...rowParameters.map(({ name }) => name), ...pagingParameters];
  return parametersOf(resource, { kind: "list", path: "" }).filter(({ name }) => !own.includes(name));
}

/** The resources whose rows can be exported: those of the app, and users. */
export function exportableResources(
  { resource }: Pick<Model, "resource">,
  { resources }: Pick<App, "resources">,
): readonly ResourceModel[] {
  return [...new Set([...resources.map(({ name }) => name), "user"])]
    .map((name) => resource.get(name)!)
    .filter(({ isExposed, operations }) => isExposed && operations.has("list"));
}

export const exportEvents = Object.freeze<ModuleOperation>({
  ...shared,
  id: "exportEvents",
  path: rowsPath.replace("{collection}", "events"),
  scope: listEvents.scope,
  summary: "Export events",
  description: "Returns all events that the caller sees, the oldest first, in one response.",
  parameters: [...commonParameters, ...eventFilters],
  errors: commonErrors,
});
