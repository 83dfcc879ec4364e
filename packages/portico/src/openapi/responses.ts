// The responses of an operation that succeeds.

import { hasDeprecatedFields } from "../model/deprecation.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import type { Components } from "./components.ts";
import type { Content, MediaType, OperationObject } from "./description.ts";
import { exampleLines, exampleOf, exampleRow } from "./examples.ts";
import { deprecationHeaders, headerReferences, quotaHeaders } from "./headers.ts";
import { outputSchema } from "./schemas.ts";

/** @returns the responses by status */
export function successResponses(
  operation: Operation | ModuleOperation,
  components: Components,
): OperationObject["responses"] {
  const content = contentOf(operation, components);
  return {
    [statusOf(operation)]: {
      description: descriptionOf(operation, content !== undefined),
      headers: headerReferences(headersOf(operation), components),
      ...(content && { content }),
    },
    ...(operation.kind === "get" && {
      304: {
        description: "Not modified: the row has one of the tags of `If-None-Match`.",
        headers: headerReferences(
          [...quotaHeaders, "ETag", ...(mayBeDeprecated(operation) ? deprecationHeaders : [])],
          components,
        ),
      },
    }),
  };
}

function statusOf(operation: Operation | ModuleOperation): number {
  const { kind, output } = operation;
  if (kind === "module" && operation.status !== undefined) return operation.status;
  if (kind === "create" || kind === "action") return 201;
  return output || (kind === "module" && operation.outputs) ? 200 : 204;
}

function descriptionOf({ kind }: Pick<Operation | ModuleOperation, "kind">, hasBody: boolean): string {
  switch (kind) {
    case "list":
      return "A page of rows. If the request has `fields`, each row has only these and its id.";
    case "get":
      return "The row. If the request has `fields`, it has only these and its id.";
    case "create":
      return "The row was created.";
    case "replace":
    case "update":
    case "action":
      return "The row as it is now.";
    case "delete":
    case "deleteAll":
      return "It was deleted.";
    default:
      return hasBody ? "The request succeeded." : "The request succeeded. The response has no body.";
  }
}

function contentOf(operation: Operation | ModuleOperation, components: Components): Content | undefined {
  if (operation.kind === "module" && operation.outputs)
    return Object.fromEntries(
      Object.entries(operation.outputs).map(([type, schema]) => [
        type,
        schema === operation.output ? jsonOf(operation, components) : linesOf(operation, type, schema),
      ]),
    );
  return operation.output && { "application/json": jsonOf(operation, components) };
}

/** The response of an export, with a row as its example. */
function linesOf({ resource, output }: ModuleOperation, type: string, schema: JsonSchema): MediaType {
  const row = resource && output === undefined ? exampleRow(resource) : undefined;
  const example = row && exampleLines(type, row);
  return { schema, ...(example !== undefined && { example }) };
}

function jsonOf(operation: Operation | ModuleOperation, components: Components): MediaType {
  const schema = outputSchema(operation, components);
  const example = exampleResponse(operation);
  return { schema, ...(example !== undefined && { example }) };
}

function exampleResponse(operation: Operation | ModuleOperation): unknown {
  const { kind, output } = operation;
  if (kind === "module" || kind === "report" || kind === "collectionAction") return exampleOf(output!);
  const { resource } = operation;
  const row = exampleRow(resource);
  if (!row || kind !== "list") return row;
  const isNumbered = resource.paging === "page";
  const pagination = { nextCursor: null, hasMore: false, ...(isNumbered && { total: 1 }) };
  return { data: [row], pagination };
}

function headersOf(operation: Operation | ModuleOperation): readonly string[] {
  const { kind, errors, isPublic } = operation;
  const hasTag = kind === "get" || kind === "create" || kind === "replace" || kind === "update";
  const isRepeatable = errors.includes("idempotency_in_progress");
  const isPage = kind === "list" || errors.includes("invalid_cursor");
  return [
    ...quotaHeaders,
    ...(hasTag ? ["ETag"] : []),
    ...(kind === "create" || kind === "action" ? ["Location"] : []),
    ...(isPage ? ["Link"] : []),
    ...(isRepeatable ? ["Idempotent-Replayed"] : []),
    ...(isPublic ? ["Cache-Control", "Vary"] : []),
    ...(mayBeDeprecated(operation) ? deprecationHeaders : []),
    ...(kind === "module" ? (operation.headers ?? []) : []),
  ];
}

/** Whether the operation or a field that requests name may be deprecated. */
function mayBeDeprecated(operation: Operation | ModuleOperation): boolean {
  if (operation.deprecated) return true;
  return operation.kind !== "module" && hasDeprecatedFields(operation.resource);
}
