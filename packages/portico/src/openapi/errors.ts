// The error responses of an operation: one for each HTTP status, with the codes that it can have.

import { catalogue, type ErrorCode, issues } from "../errors.ts";
import { capitalize } from "../lib/case.ts";
import type { Components } from "./components.ts";
import type { Content, Reference, ResponseObject } from "./description.ts";
import { errorHeaders, headerReferences } from "./headers.ts";

const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** An error as every response has it. */
function errorSchema(): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    description: "The body of every error response.",
    properties: {
      error: {
        type: "object",
        properties: {
          code: {
            type: "string",
            enum: Object.keys(catalogue),
            description: "What went wrong, for programs. It does not change.",
          },
          message: { type: "string", description: "What went wrong, for people. It may change." },
          details: {
            type: "array",
            description: "The invalid fields and parameters.",
            items: {
              type: "object",
              properties: {
                field: { type: "string", description: "Its name; empty if the whole body is invalid." },
                issue: { type: "string", enum: issues },
              },
              required: ["field", "issue"],
            },
          },
        },
        required: ["code", "message", "details"],
      },
    },
    required: ["error"],
  };
}

/** How errors of an operation differ from others. */
interface ErrorOptions {
  /** Headers that each has as well, such as those of a deprecated operation. */
  readonly headers?: readonly string[];
  /** What they may have instead of the one shape, and the tag of the operations whose errors do. */
  readonly others?: { readonly of: string; readonly content: Content };
}

/** @returns the responses by status */
export function errorResponses(
  codes: readonly ErrorCode[],
  components: Components,
  { headers: more = [], others }: ErrorOptions = {},
): Readonly<Record<string, Reference>> {
  const stored = codes.includes("idempotency_in_progress") ? ["Idempotent-Replayed"] : [];
  const byStatus = Map.groupBy(new Set(codes), (code) => catalogue[code][0]);
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, ofStatus]) => {
      const headers = [...more, ...(storedStatuses.has(status) ? stored : [])];
      return [String(status), errorResponse(status, ofStatus, components, headers, others)];
    }),
  );
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  components: Components,
  headers: readonly string[],
  others: ErrorOptions["others"],
): Reference {
  const shape = components.add("schemas", "Error", errorSchema());
  const { "application/json": other, ...otherTypes } = others?.content ?? {};
  const response: ResponseObject = {
    description: [
      `${STATUS_CODES[status]}.`,
      ...codes.map((code) => `- \`${code}\`: ${catalogue[code][1]}`),
    ].join("\n"),
    headers: {
      ...errorHeaders(codes, components),
      ...headerReferences(headers, components),
    },
    content: {
      "application/json": {
        schema: other ? { anyOf: [shape, other.schema] } : { ...shape },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code, components)])),
      },
      ...otherTypes,
    },
  };
  return components.add("responses", `${nameOf(codes, headers)}${others ? `Of${others.of}` : ""}`, response);
}

/** `["conflict", "idempotency_in_progress"]` -> `ConflictOrIdempotencyInProgress` */
function nameOf(codes: readonly ErrorCode[], headers: readonly string[]): string {
  const name = codes.map((code) => code.split("_").map(capitalize).join("")).join("Or");
  const isReplayed = headers.includes("Idempotent-Replayed");
  const isDeprecated = headers.includes("Deprecation");
  return `${name}${isReplayed ? "Replayed" : ""}${isDeprecated ? "OfDeprecated" : ""}`;
}

/** Responses with these are stored for an Idempotency-Key, and sent again. */
const storedStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412, 422]);

function exampleOf(code: ErrorCode, components: Components): Reference {
  const details = code === "validation_error" ? [{ field: "limit", issue: "type" }] : [];
  const error = { code, message: catalogue[code][1], details };
  return components.add("examples", code, { summary: code, value: { error } });
}
