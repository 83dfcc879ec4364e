// The messages of validation errors. The first part of the message is the field, unless the error has its own message.

import type { ErrorObject } from "ajv";
import type { FieldShape } from "../../declare/field.ts";
import type { InputError, Issue } from "../../errors.ts";
import { maxDecimal } from "../../lib/decimal.ts";
import type { Shape } from "../../model/model.ts";

/** Names come from callers, so their length in a response is bounded. */
const maxNameLength = 100;

/** "`title` is required." or "The body must be an object." */
export function sentenceOf(error: InputError): string {
  if ("message" in error) return error.message;
  return `${error.field === "" ? "The body" : `\`${error.field}\``} ${error.text}.`;
}

export function unknownParameter(parameter: string): InputError {
  const field = parameter.slice(0, maxNameLength);
  return { field, issue: "unknown", message: `Unknown query parameter \`${field}\`.` };
}

export function repeatedParameter(field: string): InputError {
  return { field, issue: "duplicate", text: "must occur only once" };
}

export function missingReference(field: string): InputError {
  return { field, issue: "reference", text: "does not exist" };
}

/** The error for what a validator of Ajv found in a body. */
export function schemaError(shape: Shape, error: ErrorObject): InputError {
  // A JSON pointer (RFC 6901, section 3) with dots instead of slashes.
  const names = error.instancePath.slice(1).replaceAll("/", ".");
  const path = names.replaceAll("~1", "/").replaceAll("~0", "~");
  const named = error.params.additionalProperty ?? error.params.missingProperty;
  const field = named === undefined ? path : [path, named].filter(Boolean).join(".");
  if (error.keyword === "additionalProperties") return unexpectedField(shape, field);
  const shown = shape.attribute.get(field)?.field;
  const text = (shown?.kind === "decimal" && decimalText(shown, error)) || keywordText(error);
  return { field, issue: issueOfKeyword[error.keyword] ?? "format", text };
}

/** What a text must be to be a decimal; undefined for an error that says enough. */
function decimalText(
  { options: { scale } }: Extract<FieldShape, { kind: "decimal" }>,
  { keyword }: ErrorObject,
): string | undefined {
  if (!["type", "format", "pattern"].includes(keyword)) return undefined;
  const digits = scale === 0 ? "without a point" : `with at most ${scale} digits after the point`;
  return `must be a decimal ${digits}, as text: "${maxDecimal(scale + 2, scale)}"`;
}

function unexpectedField({ attribute, counts }: Shape, path: string): InputError {
  const known = attribute.get(path);
  if (known?.isImmutable) return { field: path, issue: "read_only", text: "cannot be changed" };
  if ((known && !known.isInternal) || counts.has(path))
    return { field: path, issue: "read_only", text: "is set by the server" };
  const field = path.slice(0, maxNameLength);
  return { field, issue: "unknown", message: `Unknown field \`${field}\`.` };
}

const issueOfKeyword: Readonly<Record<string, Issue>> = {
  required: "required",
  type: "type",
  minLength: "min",
  minimum: "min",
  maxLength: "max",
  maximum: "max",
  formatMinimum: "min",
  formatMaximum: "max",
  format: "format",
  pattern: "format",
  enum: "choice",
  minItems: "min",
  maxItems: "max",
  uniqueItems: "duplicate",
};

/** What a keyword of JSON Schema requires, as the rest of a sentence that begins with the field. */
export function keywordText({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${[params.type].flat().map(typeName).join(" or ")}`;
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    case "formatMinimum":
      return params.format === "date"
        ? `must not be before ${params.limit}`
        : `must be at least ${params.limit}`;
    case "formatMaximum":
      return params.format === "date"
        ? `must not be after ${params.limit}`
        : `must be at most ${params.limit}`;
    case "enum":
      return `must be one of ${params.allowedValues.join(", ")}`;
    case "minItems":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} items`;
    case "maxItems":
      return `must have at most ${params.limit} items`;
    case "uniqueItems":
      return "must not contain the same value twice";
    case "format":
      return `must be a valid ${params.format}`;
    case "pattern":
      return `must match ${params.pattern}`;
    default:
      return message ?? "is not valid";
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

function typeName(type: string): string {
  return typeNames[type] ?? type;
}
