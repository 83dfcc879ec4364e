// The request that the examples of an operation send: required parameters, those with an example, and a body.

import type { JsonSchema } from "../model/json-schema.ts";
import type { ParameterObject, Reference } from "../openapi/description.ts";
import type { Contents, DescribedOperation } from "./contents.ts";
import { exampleOf, sampleOf } from "./sample-values.ts";

/** A file of a form. */
export interface SampleFile {
  readonly name: string;
  readonly type: string;
}

/** A body: JSON, text of another type, or a form with files. */
export type SampleBody =
  | { readonly kind: "json"; readonly type: string; readonly value: unknown }
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  | {
      readonly kind: "form";
      readonly fields: readonly (readonly [name: string, value: string | SampleFile])[];
    };

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  /** Besides that of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: SampleBody | undefined;
  /** Whether a successful response has a body in JSON. */
  readonly returnsJson: boolean;
}

/** Stands for a key or token in examples. */
export const keyPlaceholder = "YOUR_KEY";

export function sampleRequest(described: DescribedOperation, contents: Contents): SampleRequest {
  const { method, server, path, operation } = described;
  const parameters = parametersOf(described, contents).filter(
    ({ required, schema }) => required || schema.examples,
  );
  const textOfParameter = ({ example, schema }: ParameterObject): string =>
    String(example ?? sampleOf(schema, contents));
  const query = new URLSearchParams(
    parameters.flatMap((each) => (each.in === "query" ? [[each.name, textOfParameter(each)]] : [])),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const parameter = parameters.find((each) => each.in === "path" && each.name === name);
    return parameter ? pathValue(parameter, contents) : placeholder;
  });
  const headers = parameters.flatMap((each) =>
    each.in === "header" ? [[each.name, textOfParameter(each)] as const] : [],
  );
  return {
    method,
    url: `${server}${filled}${query.size > 0 ? `?${query}` : ""}`,
    headers: {
      ...(needsCredential(described) && { Authorization: `Bearer ${keyPlaceholder}` }),
      ...Object.fromEntries(headers),
    },
    body: sampleBody(described, contents),
    returnsJson: successOf(operation.responses, contents)?.type === "application/json",
  };
}

/** Without an example, the name of the parameter in capitals, to be replaced: `POST_ID` */
function pathValue({ name, example, schema }: ParameterObject, contents: Contents): string {
  if (example !== undefined) return encodeURIComponent(String(example));
  if (schema.enum || schema.examples || schema.example !== undefined)
    return encodeURIComponent(String(sampleOf(schema, contents)));
  return name.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
}

export function parametersOf(
  { operation }: DescribedOperation,
  contents: Contents,
): readonly ParameterObject[] {
  return (operation.parameters ?? []).map((each: ParameterObject | Reference) => contents.resolve(each));
}

/** Whether an operation takes a key or a token in `Authorization`. */
function needsCredential({ operation }: DescribedOperation): boolean {
  return (operation.security ?? []).some((each) => "bearer" in each || "oauth2" in each);
}

/** Media types of bodies, in the order of preference. */
const preferredTypes = ["application/json", "application/merge-patch+json"];

function sampleBody({ operation }: DescribedOperation, contents: Contents): SampleBody | undefined {
  if (!operation.requestBody) return undefined;
  const { content } = contents.resolve(operation.requestBody);
  const type = preferredTypes.find((each) => each in content) ?? Object.keys(content)[0];
  const media = type === undefined ? undefined : content[type];
  if (type === undefined || !media) return undefined;
  const value = exampleOf(media, contents);
  if (isJson(type)) return { kind: "json", type, value };
  if (type === "multipart/form-data")
    return { kind: "form", fields: formFields(media.schema, value, contents) };
  return { kind: "text", type, text: textOf(type, value) };
}

export function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}

function textOf(type: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (type !== "application/x-www-form-urlencoded") return JSON.stringify(value);
  const fields = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  return String(new URLSearchParams(fields.map(([name, each]) => [name, String(each)])));
}

function formFields(schema: JsonSchema, value: unknown, contents: Contents): [string, string | SampleFile][] {
  const { properties = {} } = contents.resolve(schema) as JsonSchema;
  const schemas = properties as Readonly<Record<string, JsonSchema>>;
  return Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).map(([name, each]) =>
    isFile(schemas[name])
      ? [name, { name: "file.bin", type: "application/octet-stream" }]
      : [name, fieldText(each)],
  );
}

function fieldText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether a property of a form is a file (OpenAPI Specification 3.1.1, section 4.8.14.4). */
export function isFile(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && (schema.format === "binary" || "contentMediaType" in schema);
}

export interface SuccessResponse {
  readonly status: string;
  readonly description: string;
  /** The first of its media types; undefined without a body. */
  readonly type: string | undefined;
  readonly example: unknown;
}

/** The response that a successful request has. */
export function successOf(
  responses: DescribedOperation["operation"]["responses"],
  contents: Contents,
): SuccessResponse | undefined {
  const [status, reference] = Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  if (status === undefined || !reference) return undefined;
  const { description, content = {} } = contents.resolve(reference);
  const [[type, media] = []] = Object.entries(content);
  return { status, description, type, example: media && exampleOf(media, contents) };
}
