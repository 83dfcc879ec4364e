// The parameters of operations.

import type { Parameter } from "../model/operation-parameters.ts";
import type { Components } from "./components.ts";
import type { ParameterObject, Reference } from "./description.ts";
import { described } from "./schemas.ts";

/** Parameters that many operations have. */
const shared = new Set(["fields", "limit", "cursor", "direction", "deleted", "If-Match", "If-None-Match"]);

/** @param example of a parameter in the path */
export function parameterOf(
  parameter: Parameter,
  components: Components,
  example: unknown,
): ParameterObject | Reference {
  const object = parameterObject(parameter, components, example);
  if (!shared.has(parameter.name)) return object;
  return components.add("parameters", componentName(parameter.name), object);
}

/** `If-Match` -> `IfMatch` */
function componentName(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parameterObject(
  { name, in: location, description, schema, maxCount, filter, isRequired = false }: Parameter,
  components: Components,
  example: unknown,
): ParameterObject {
  const value = described(schema, components);
  const common = {
    ...{ name, in: location, description: description === "" ? `The ${name}.` : description },
    ...((isRequired || location === "path") && { required: true as const }),
    ...(schema.deprecated === true && { deprecated: true as const }),
  };
  if (location === "path") return { ...common, schema: value, example };
  if (filter?.operator === "in")
    return { ...common, schema: { type: "array", items: { type: "string" } }, style: "form", explode: false };
  if (maxCount === 1) return { ...common, schema: value };
  const values = { type: "array", items: value, maxItems: maxCount };
  return { ...common, schema: values, style: "form", explode: true };
}

export function idempotencyKey(isRequired: boolean, components: Components): Reference {
  return components.add("parameters", "IdempotencyKey", {
    name: "Idempotency-Key",
    in: "header",
    description: "Identifies the request, so that it takes effect only once if it is sent again.",
    ...(isRequired && { required: true as const }),
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "8e03978e-40d5-43e8-bc93-6894a57f9324",
  });
}
