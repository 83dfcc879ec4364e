// The operation that announces an upload, as data. Addresses of contents are signed and belong to no operation.

import type { JsonSchema } from "../model/json-schema.ts";
import { bodyErrors, commonErrors, repeatableErrors } from "../model/operation-errors.ts";
import type { ModuleOperation } from "../model/operations.ts";

const text: JsonSchema = { type: "string", maxLength: 1_000 };
const size: JsonSchema = { type: "integer", minimum: 0 };

/** Announces a file for a field. It needs the scope to write the rows. */
export const createUpload = Object.freeze<ModuleOperation>({
  id: "createUpload",
  kind: "module",
  method: "POST",
  path: "/uploads",
  summary: "Announce an upload",
  description:
    "Returns a signed URL, to which the content of a file is sent. The row then gets the file by its id.",
  prefixes: ["/v1"],
  scope: undefined,
  parameters: [],
  status: 201,
  input: {
    title: "UploadCreate",
    type: "object",
    properties: { resource: text, field: text, name: text, type: text, size },
    required: ["resource", "field", "name", "type", "size"],
    additionalProperties: false,
  },
  output: {
    title: "Upload",
    type: "object",
    properties: {
      id: { type: "string" },
      url: { type: "string", format: "uri" },
      method: { type: "string", enum: ["PUT"] },
      headers: { type: "object" },
      expiresAt: { type: "string", format: "date-time" },
    },
    required: ["id", "url", "method", "headers", "expiresAt"],
  },
  errors: [...commonErrors, ...bodyErrors, ...repeatableErrors],
});
