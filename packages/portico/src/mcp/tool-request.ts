// A call of a tool as a request to the API.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import type { InputError } from "../errors.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import type { ToolParameter } from "./tool-parameters.ts";
import type { Tool, ToolInput } from "./tools.ts";

/** A request to the API. */
export interface ApiRequest {
  readonly method: string;
  /** The path with its version, and the query: `/v1/posts?limit=5` */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the operation has none. */
  readonly body: unknown;
}

/** @throws InvalidInput for arguments that no request can have. The API validates the others. */
export function requestOfCall(
  { operation, arguments: { parameters, hasBody } }: Tool,
  input: ToolInput = {},
): ApiRequest {
  const errors: InputError[] = [];
  const rest: Record<string, unknown> = { ...input };
  const path: Record<string, string> = {};
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const parameter of parameters) {
    const { argument, name, in: location } = parameter;
    const value = rest[argument];
    delete rest[argument];
    if (value === undefined) {
      if (location === "path") errors.push({ field: argument, issue: "required", text: "is required" });
      continue;
    }
    const texts = textsOf(parameter, value, errors);
    if (location === "query") for (const text of texts) query.append(name, text);
    else if (location === "path") path[name] = texts[0] ?? "";
    else headers[name] = texts[0] ?? "";
  }
  if (!hasBody)
    for (const name of Object.keys(rest))
      errors.push({ field: name.slice(0, 100), issue: "unknown", text: "is not an argument of this tool" });
  if (errors.length > 0) throw new InvalidInput(errors);
  const target = pathOf(operation, path) + (query.size > 0 ? `?${query}` : "");
  return { method: operation.method, target, headers, body: hasBody ? rest : undefined };
}

/** The path of an operation, with its version. @param values of its parameters */
export function pathOf(
  { path, prefixes }: Pick<Operation | ModuleOperation, "path" | "prefixes">,
  values: Readonly<Record<string, string>>,
): string {
  // The last one names the version.
  return prefixes.at(-1) + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
}

/** The values of a parameter as texts. Adds an error for a value that no parameter can have. */
function textsOf(
  { argument, in: location, maxCount }: ToolParameter,
  value: unknown,
  errors: InputError[],
): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) && maxCount > 1 ? value : [value];
  const texts = values.filter(isScalar).map(String);
  if (values.length === 0)
    errors.push({ field: argument, issue: "min", text: "must have at least one value" });
  else if (texts.length < values.length)
    errors.push({ field: argument, issue: "type", text: "must be text, a number, true or false" });
  else if (texts.length > maxCount)
    errors.push({ field: argument, issue: "max", text: `has more than ${maxCount} values` });
  else if (!texts.every((text) => canBeSent(text, location)))
    errors.push({ field: argument, issue: "format", text: "has characters or a length that cannot be sent" });
  return texts;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Characters of a parameter in a path, as Fastify bounds them. */
const maxPathParameter = 100;
/** Characters of a value in the query or in a header; all headers together may have 16 KiB. */
const maxValue = 4_000;
const headerValue = /^[\x20-\x7e]*$/;

function canBeSent(text: string, location: ToolParameter["in"]): boolean {
  if (!text.isWellFormed() || text.length > maxValue) return false;
  if (location === "header") return headerValue.test(text) && text.trim() === text && text !== "";
  return (
    location !== "path" || (text !== "" && text.length <= maxPathParameter && text !== "." && text !== "..")
  );
}
