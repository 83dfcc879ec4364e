// The operations `GET /v1/me` and `PATCH /v1/me`. Their schemas contain the fields that the app adds to users.

import { ownAttributes } from "../../engine/me.ts";
import { type JsonSchema, rowSchema } from "../../model/json-schema.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import { bodyErrors, commonErrors, repeatableErrors } from "../../model/operation-errors.ts";
import type { ModuleOperation } from "../../model/operations.ts";

const common = { kind: "module", path: "/me", prefixes: ["/v1"], scope: undefined, parameters: [] } as const;

type Described = Pick<Model, "resource" | "selfEditable">;

export const getMe = ({ resource }: Described) =>
  Object.freeze<ModuleOperation>({
    ...common,
    id: "getMe",
    summary: "Get the caller",
    description: "The tenant, the user with their role, the scopes and the quota of the credential.",
    isTool: true,
    method: "GET",
    input: undefined,
    output: meSchema(resource.get("user")!),
    errors: commonErrors,
  });

export const updateMe = ({ resource, selfEditable }: Described) => {
  const users = resource.get("user")!;
  return Object.freeze<ModuleOperation>({
    ...common,
    id: "updateMe",
    method: "PATCH",
    summary: "Update the caller",
    description: "Changes the fields of the caller's user that users change themselves.",
    input: changesSchema(users, selfEditable),
    output: meSchema(users),
    errors: [...commonErrors, ...repeatableErrors, ...bodyErrors, "forbidden", "conflict"],
  });
};

const text = { type: "string" };

function meSchema(users: ResourceModel): JsonSchema {
  return {
    title: "Me",
    type: "object",
    properties: {
      kind: { type: "string", enum: ["key", "user", "client", "anonymous"] },
      tenant: { type: "object", properties: { id: text, name: text }, required: ["id", "name"] },
      user: { ...rowSchema({ attributes: ownAttributes(users) }), type: ["object", "null"] },
      scopes: { type: "array", items: text },
      rateLimit: {
        type: ["object", "null"],
        properties: { limit: { type: "integer" }, windowSeconds: { type: "integer" } },
        required: ["limit", "windowSeconds"],
      },
    },
    required: ["kind", "tenant", "user", "scopes", "rateLimit"],
  };
}

/** What an update of users accepts, without the fields that only those who manage users change. */
function changesSchema(users: ResourceModel, selfEditable: readonly string[]): JsonSchema {
  const properties = Object.entries(users.schemas.update.properties as Readonly<Record<string, JsonSchema>>);
  return {
    title: "MeUpdate",
    ...users.schemas.update,
    properties: Object.fromEntries(properties.filter(([name]) => selfEditable.includes(name))),
  };
}
