// The operation of imports as data.

import { capitalize, spaceCase } from "../lib/case.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { ResourceModel } from "../model/model.ts";
import { bodyErrors, commonErrors } from "../model/operation-errors.ts";
import { type Parameter, queryParameter } from "../model/operation-parameters.ts";
import type { ModuleOperation } from "../model/operations.ts";

const count = { type: "integer", minimum: 0 };
const flag = { type: "boolean", default: false };

const summary: JsonSchema = {
  title: "ImportResult",
  type: "object",
  properties: {
    created: count,
    updated: count,
    failed: count,
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: { line: { type: "integer", minimum: 1 }, error: { type: "object" } },
        required: ["line", "error"],
      },
    },
    error: { type: "object" },
  },
  required: ["created", "updated", "failed", "errors"],
};

/** The path of imports, which those of each collection share. */
export const importsPath = "/imports/{collection}";

/** The parameters of every import. */
export const importParameters: readonly Parameter[] = [
  queryParameter(
    "mode",
    { type: "string", enum: ["create", "upsert"], default: "create" },
    "upsert to update the row with the same value of the field that `by` names, if there is one.",
  ),
  queryParameter("by", { type: "string" }, "A unique field, for mode=upsert."),
  queryParameter("atomic", flag, "Whether nothing is written if any line is refused."),
  queryParameter("dryRun", flag, "Whether all is checked and nothing is written."),
  queryParameter("progress", flag, "Whether lines with the progress come before the result."),
  queryParameter(
    "readOnly",
    { type: "string", enum: ["refuse", "ignore"], default: "refuse" },
    "ignore to ignore fields that callers cannot set, as an export has them.",
  ),
];

/** Creates or updates a row of a resource for each line of the body. */
export function importRows(resource: ResourceModel): ModuleOperation {
  const { plural, segment, scopes, title } = resource;
  return Object.freeze({
    ...{ id: `import${capitalize(plural)}`, kind: "module", method: "POST" },
    path: importsPath.replace("{collection}", segment),
    prefixes: ["/v1"],
    scope: scopes.write,
    resource,
    summary: `Import ${spaceCase(plural)}`,
    description: `Creates a ${title} for each line of the body, or updates one. Lines that are refused are reported with their numbers.`,
    parameters: importParameters,
    input: undefined,
    inputs,
    output: summary,
    outputs: {
      "application/json": summary,
      "application/x-ndjson": {
        type: "string",
        description:
          "With `progress=true`: a line with the counts for each group of lines, and the result as the last line.",
      },
    },
    errors: importErrors,
  } as const);
}

const inputs: ModuleOperation["inputs"] = {
  "application/x-ndjson": { type: "string", description: "Each line is a row as JSON." },
  "text/csv": { type: "string", description: "A line with the names of the columns, and one for each row." },
};

const importErrors: ModuleOperation["errors"] = [
  ...commonErrors,
  "not_found",
  "forbidden",
  "conflict",
  ...bodyErrors,
  "request_timeout",
];
