// An operation of the model as a description has it.

import { exampleId } from "../lib/id.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import type { Components } from "./components.ts";
import type { Content, MediaType, OperationObject, RequestBody } from "./description.ts";
import { descriptionOf, summaryOf } from "./descriptions.ts";
import { errorResponses } from "./errors.ts";
import { exampleBody, exampleChanges, exampleLines, exampleOf } from "./examples.ts";
import { deprecationHeaders } from "./headers.ts";
import { idempotencyKey, parameterOf } from "./parameters.ts";
import { successResponses } from "./responses.ts";
import { formSchema, inputSchema } from "./schemas.ts";
import { securityOf } from "./security.ts";

/** @param idPrefix of the resource whose rows the path names first, if it is one */
export function describeOperation(
  operation: Operation | ModuleOperation,
  tag: string,
  idPrefix: string | undefined,
  components: Components,
): OperationObject {
  const { id, input, errors } = operation;
  const inputs = operation.kind === "module" ? operation.inputs : undefined;
  const deprecation = operation.deprecated;
  return {
    operationId: id,
    tags: [tag],
    summary: summaryOf(operation),
    description: descriptionOf(operation),
    ...(deprecation && { deprecated: true }),
    ...(deprecation?.sunset !== undefined && { "x-sunset": deprecation.sunset }),
    parameters: [
      ...operation.parameters.map((parameter) =>
        parameterOf(
          parameter,
          components,
          idPrefix === undefined ? exampleOf(parameter.schema, parameter.name) : exampleId(idPrefix),
        ),
      ),
      ...(takesIdempotencyKey(operation)
        ? [idempotencyKey(errors.includes("idempotency_key_required"), components)]
        : []),
    ],
    ...((input || inputs) && { requestBody: requestBody(operation, components) }),
    responses: {
      ...successResponses(operation, components),
      ...errorResponses(errors, components, { headers: deprecation ? deprecationHeaders : [] }),
    },
    security: securityOf(operation),
  };
}

export function takesIdempotencyKey({ errors }: Pick<Operation, "errors">): boolean {
  return errors.includes("idempotency_in_progress");
}

function requestBody(operation: Operation | ModuleOperation, components: Components): RequestBody {
  const required = Array.isArray(operation.input?.required) ? operation.input.required : [];
  const isAction = operation.kind === "action" || operation.kind === "collectionAction";
  // An action without required input needs no body.
  const isOptional = isAction && required.length === 0;
  return { ...(!isOptional && { required: true as const }), content: contentOf(operation, components) };
}

function contentOf(operation: Operation | ModuleOperation, components: Components): Content {
  if (operation.kind === "module" && operation.inputs)
    return Object.fromEntries(
      Object.entries(operation.inputs).map(
        ([type, schema]) => [type, inputOf(type, schema, operation)] as const,
      ),
    );
  const example = bodyExample(operation);
  const body = { schema: inputSchema(operation, components), ...(example !== undefined && { example }) };
  return {
    ...(operation.method === "PATCH" && { "application/merge-patch+json": body }),
    "application/json": body,
    ...(takesForm(operation) && {
      "multipart/form-data": { schema: formSchema(operation as Operation, components) },
    }),
  };
}

/** A body of several rows has one of them as its example. */
function inputOf(type: string, schema: JsonSchema, { resource }: ModuleOperation): MediaType {
  const row = resource && exampleBody(resource.attributes);
  const example = row && exampleLines(type, row);
  return { schema, ...(example !== undefined && { example }) };
}

/** Whether a body can have files. */
function takesForm(operation: Operation | ModuleOperation): boolean {
  const { kind } = operation;
  if (kind !== "create" && kind !== "replace" && kind !== "update") return false;
  return operation.resource.files.some(({ isReadOnly }) => !isReadOnly);
}

function bodyExample(operation: Operation | ModuleOperation): unknown {
  switch (operation.kind) {
    case "create":
      return exampleBody(operation.resource.attributes);
    case "replace":
      return exampleBody(operation.resource.attributes.filter(({ isImmutable }) => !isImmutable));
    case "update":
      return exampleChanges(operation.resource.attributes);
    case "action":
      return exampleBody(operation.action!.attributes);
    case "collectionAction":
      return exampleBody(operation.collectionAction!.attributes);
    default:
      return exampleOf(operation.input!);
  }
}
