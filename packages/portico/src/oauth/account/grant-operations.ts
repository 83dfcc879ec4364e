// The operations on grants as data.

import type { JsonSchema } from "../../model/json-schema.ts";
import { bodyErrors, commonErrors } from "../../model/operation-errors.ts";
import { cursorParameter, limitParameter, pathParameter } from "../../model/operation-parameters.ts";
import type { ModuleOperation } from "../../model/operations.ts";

const time = { type: "string", format: "date-time" };

const grant: JsonSchema = {
  title: "Grant",
  type: "object",
  properties: {
    id: { type: "string" },
    clientId: { type: "string" },
    clientName: { type: "string" },
    scopes: { type: "array", items: { type: "string" } },
    createdAt: time,
    expiresAt: time,
  },
  required: ["id", "clientId", "clientName", "scopes", "createdAt", "expiresAt"],
};

type ScopedOperation = ModuleOperation & { readonly scope: string };

/** Every grant of the user. Without it, an application sees only those that the user gave to itself. */
export const everyGrantScope = "clients:read";

/** Lists the access that the caller's user has granted to applications. */
export const listGrants = Object.freeze<ModuleOperation>({
  id: "listGrants",
  kind: "module",
  method: "GET",
  path: "/grants",
  summary: "List grants",
  description: "Lists the access that the user has given to applications, the newest first.",
  prefixes: ["/v1"],
  scope: undefined,
  parameters: [limitParameter("limit"), cursorParameter],
  input: undefined,
  output: {
    title: "GrantList",
    type: "object",
    properties: {
      data: { type: "array", items: grant },
      pagination: {
        type: "object",
        properties: { nextCursor: { type: ["string", "null"] }, hasMore: { type: "boolean" } },
        required: ["nextCursor", "hasMore"],
      },
    },
    required: ["data", "pagination"],
  },
  errors: [...commonErrors, "invalid_cursor", "forbidden"],
});

/** Revokes a grant of any user of the tenant. */
export const deleteGrant = Object.freeze<ScopedOperation>({
  id: "deleteGrant",
  kind: "module",
  method: "DELETE",
  path: "/grants/{id}",
  summary: "Revoke a grant",
  description: "Takes the access back that a user of the tenant has given to an application.",
  prefixes: ["/v1"],
  scope: "clients:manage",
  parameters: [pathParameter("id")],
  input: undefined,
  output: undefined,
  errors: [...commonErrors, ...bodyErrors, "not_found"],
});
