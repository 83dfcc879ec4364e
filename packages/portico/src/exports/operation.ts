// The operation that exports rows, as data.

import { pathParameter, queryParameter } from "../model/operation-parameters.ts";
import { commonErrors, type ModuleOperation } from "../model/operations.ts";

/** The default and the maximum number of rows. */
export const maxRows = 1_000_000;

export const formats = ["ndjson"] as const;
export type Format = (typeof formats)[number];

export const mediaTypes: Readonly<Record<Format, string>> = {
  ndjson: "application/x-ndjson",
};

const flag = { type: "boolean", default: false };

/** Its parameters besides the filters, `q`, `sort` and `fields` of the list of the same rows. */
export const ownParameters = [
  queryParameter("format", { type: "string", enum: formats, default: "ndjson" }, "The format of the rows."),
  queryParameter(
    "limit",
    { type: "integer", minimum: 1, maximum: maxRows, default: maxRows },
    "The maximum number of rows.",
  ),
  queryParameter(
    "after",
    { type: "string" },
    "The id of a row: only those behind it in the order of the export.",
  ),
  queryParameter("total", flag, "Whether to count the rows first, and send their number in Total-Count."),
];

export const exportRows = Object.freeze<ModuleOperation>({
  id: "exportRows",
  kind: "module",
  method: "GET",
  path: "/exports/{collection}",
  prefixes: ["/v1"],
  // That to read the rows.
  scope: undefined,
  parameters: [pathParameter("collection"), ...ownParameters],
  input: undefined,
  output: undefined,
  errors: [...commonErrors, "not_found"],
});
