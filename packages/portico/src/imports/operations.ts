// The operation of imports as data.

import type { JsonSchema } from "../model/json-schema.ts";
import { type Parameter, queryParameter } from "../model/operation-parameters.ts";
import { commonErrors, type ModuleOperation } from "../model/operations.ts";

const count = { type: "integer", minimum: 0 };
const flag = { type: "boolean", default: false };

const summary: JsonSchema = {
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

const collection: Parameter = Object.freeze({
  name: "collection",
  in: "path",
  schema: { type: "string" },
  description: "The collection as its own path names it: posts.",
  maxCount: 1,
});

/** Creates or updates a row for each line of the body. It needs the scope to write the rows. */
export const importRows = Object.freeze<ModuleOperation>({
  id: "importRows",
  kind: "module",
  method: "POST",
  path: "/imports/{collection}",
  prefixes: ["/v1"],
  scope: undefined,
  parameters: [
    collection,
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
  ],
  input: undefined,
  output: summary,
  errors: [
    ...commonErrors,
    "not_found",
    "forbidden",
    "conflict",
    "payload_too_large",
    "unsupported_media_type",
    "request_timeout",
  ],
});
