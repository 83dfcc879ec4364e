// The answer of the API as the result of a tool. An error of the API is a result too, so that the assistant reads it.

import type { CallToolResult } from "@modelcontextprotocol/server";
import { Problem, validationError } from "../errors.ts";
import type { ApiAnswer } from "./call-api.ts";
import { maxResultKib } from "./result-size.ts";
import type { Tool } from "./tools.ts";

/** The body of an error: `{"error": {"code", "message", "details"}}` */
interface ErrorBody {
  readonly error: { readonly message: string; readonly details?: readonly { readonly field: string }[] };
}

export function resultOf(tool: Tool, { status, headers, text }: ApiAnswer): CallToolResult {
  if (text === undefined) return tooLarge(tool);
  if (status >= 400) return failed(tool, text, headers.get("retry-after"));
  if (text === "") return { content: [{ type: "text", text: "Done." }] };
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
}

/** The result for an error that arose before the API was called. */
export function failedResult(problem: Problem): CallToolResult {
  const text = problem.toText();
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text), isError: true };
}

function failed(tool: Tool, text: string, retryAfter: string | null): CallToolResult {
  const body = withArgumentNames(tool, JSON.parse(text) as ErrorBody);
  const wait = `Wait ${retryAfter} seconds before you try again.`;
  return {
    content: [
      { type: "text", text: JSON.stringify(body) },
      ...(retryAfter === null ? [] : [{ type: "text" as const, text: wait }]),
    ],
    structuredContent: { ...body },
    isError: true,
  };
}

/** Replaces the names of parameters by those of the arguments. */
function withArgumentNames({ arguments: { parameters } }: Tool, { error }: ErrorBody): ErrorBody {
  const renamed = parameters.filter(({ name, argument }) => name !== argument);
  const names = new Map(renamed.map(({ name, argument }) => [name, argument]));
  const details = error.details?.map((each) => ({ ...each, field: names.get(each.field) ?? each.field }));
  // Messages quote the fields of the details.
  const quoted = (error.details ?? []).filter(({ field }) => names.has(field));
  const message = quoted.reduce(
    (text, { field }) => text.replaceAll(`\`${field}\``, () => `\`${names.get(field)}\``),
    error.message,
  );
  return { error: { ...error, message, ...(details && { details }) } };
}

function tooLarge({ operation, arguments: { parameters } }: Tool): CallToolResult {
  const size = `The answer is larger than ${maxResultKib} KiB`;
  // The write has succeeded, so the result is not an error.
  if (operation.method !== "GET")
    return {
      content: [{ type: "text", text: `Done. ${size}, and was left out. Read it with fewer \`fields\`.` }],
      structuredContent: {},
    };
  const narrowing = ["limit", "perPage", "fields"].find((name) =>
    parameters.some(({ argument }) => argument === name),
  );
  const problem =
    narrowing === undefined
      ? new Problem("validation_error", `${size}.`)
      : validationError(narrowing, "max", `${size}. Ask for fewer rows, or for fewer \`fields\`.`);
  return failedResult(problem);
}
