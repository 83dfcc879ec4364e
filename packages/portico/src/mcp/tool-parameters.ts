// The arguments of a tool: the parameters of its operation, and the members of its body.

import type { JsonSchema } from "../model/json-schema.ts";
import type { Parameter } from "../model/operation-parameters.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import { portableSchema } from "./tool-schemas.ts";

/** An argument that is sent in the path, the query or a header. */
export interface ToolParameter {
  /** The name of the argument: `createdAtGte`. */
  readonly argument: string;
  /** The name of the parameter: `createdAt[gte]`. */
  readonly name: string;
  readonly in: Parameter["in"];
  /** How often it may occur; several values are an array. */
  readonly maxCount: number;
}

export interface ToolArguments {
  readonly parameters: readonly ToolParameter[];
  readonly hasBody: boolean;
  /** The JSON Schema of all arguments. */
  readonly schema: JsonSchema;
}

const idempotencyHeader = "Idempotency-Key";

export function argumentsOf(operation: Operation | ModuleOperation): ToolArguments {
  const { input, errors } = operation;
  const body = (input?.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const described = [...parametersOf(operation), ...idempotencyParameters(errors)];
  const taken = new Set([...Object.keys(body), ...described.map(({ name }) => name)]);
  const parameters = described.map((each) => ({ ...each, argument: argumentName(each, body, taken) }));
  return {
    parameters: parameters.map(({ argument, name, in: location, maxCount }) =>
      Object.freeze({ argument, name, in: location, maxCount }),
    ),
    hasBody: input !== undefined,
    schema: {
      type: "object",
      properties: {
        ...Object.fromEntries(parameters.map((each) => [each.argument, schemaOf(each)])),
        ...Object.fromEntries(Object.entries(body).map(([name, schema]) => [name, portableSchema(schema)])),
      },
      required: [
        ...parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument),
        ...((input?.required ?? []) as readonly string[]),
      ],
      additionalProperties: false,
    },
  };
}

type DescribedParameter = Parameter & { readonly isRequired: boolean };

/**
 * Those of the path and the query. Conditional requests are left out. So are lists with commas, because an array means the
 * same: `status: ["draft", "published"]`.
 */
function parametersOf({ parameters }: Operation | ModuleOperation): readonly DescribedParameter[] {
  const names = new Set(parameters.map(({ name }) => name));
  return parameters
    .filter(({ in: location, filter }) => {
      if (location === "header") return false;
      return filter?.operator !== "in" || !names.has(filter.filter.name);
    })
    .map((each) => ({ ...each, isRequired: each.in === "path" || each.isRequired === true }));
}

function idempotencyParameters(errors: Operation["errors"]): readonly DescribedParameter[] {
  if (!errors.includes("idempotency_key_reused")) return [];
  const description =
    "A random value for this call. A call that is repeated with the same value takes effect once.";
  return [
    {
      ...{ name: idempotencyHeader, in: "header", description, maxCount: 1 },
      schema: { type: "string", minLength: 1, maxLength: 255 },
      isRequired: errors.includes("idempotency_key_required"),
    },
  ];
}

/**
 * The name of a parameter as an argument. Clients accept letters, digits, and the characters `_`, `.` and `-`.
 * A member of the body keeps its name, and so does a parameter whose name is accepted; another one gets a new name.
 */
function argumentName(
  { name, in: location }: Parameter,
  body: Readonly<Record<string, unknown>>,
  taken: ReadonlySet<string>,
): string {
  const plain =
    name === idempotencyHeader
      ? "idempotencyKey"
      : name.replace(/\[(\w)(\w*)\]$/, (_, first: string, rest: string) => first.toUpperCase() + rest);
  const isTaken = plain === name ? Object.hasOwn(body, name) : taken.has(plain);
  return isTaken ? `${plain}In${location === "path" ? "Path" : "Request"}` : plain;
}

function schemaOf({ schema, description, maxCount }: DescribedParameter): JsonSchema {
  const value = portableSchema(schema);
  const described = description === "" ? {} : { description };
  if (maxCount === 1) return { ...value, ...described };
  return { anyOf: [value, { type: "array", items: value, minItems: 1, maxItems: maxCount }], ...described };
}
