// Random requests for the operations of a description: valid ones, made from the schemas and from the ids of rows that
// exist, and others.

import type fc from "fast-check";
import type { MediaType, ParameterObject, RequestBody } from "../../../src/openapi/description.ts";
import type { DescribedApi, DescribedOperation } from "./described-api.ts";

export interface RandomRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
  /** Whether it selects some of the fields of rows. */
  readonly selectsFields: boolean;
}

type Schema = MediaType["schema"];
type Json = fc.JsonValue;

const wrongValues: readonly Json[] = [
  null,
  "",
  " ",
  "x",
  -1,
  1.5,
  1e300,
  true,
  [],
  {},
  ["\u0000"],
  "\ud800",
  { id: 1 },
];
const wrongTexts = [
  "",
  "x",
  "-1",
  "%",
  "\u0000",
  "999999999999",
  "null",
  "a".repeat(300),
  "é,b",
  "true,true",
];

/** Draws a value from an array. */
export type Draw = <T>(values: readonly T[]) => T;

/** @param ids of rows, by the prefixes of ids */
export function randomRequest(
  api: DescribedApi,
  described: DescribedOperation,
  ids: ReadonlyMap<string, readonly string[]>,
  draw: Draw,
): RandomRequest {
  const isValid = draw([true, true, false]);
  const values = new RandomValues(api, ids, draw, isValid);
  const { method, parameters, operation } = described;
  const query = parameters.filter((each) => each.in === "query" && draw([false, false, true]));
  const search = query.flatMap((each) => values.parameter(each).map((value) => [each.name, value] as const));
  const path = described.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.id(parameters.find((each) => each.in === "path" && each.name === name)!)),
  );
  const headers = parameters.filter(
    ({ in: location, required }) => location === "header" && (required || draw([false, true])),
  );
  const sent = Object.fromEntries(headers.map(({ name }) => [name, draw(headerValues[name] ?? ["x"])]));
  const body = operation.requestBody && values.body(operation.requestBody);
  return {
    method,
    path: `${path}${search.length > 0 ? `?${new URLSearchParams(search.map(([name, value]) => [name, value]))}` : ""}`,
    // fetch names the type of a form, with its boundary.
    headers: { ...sent, ...(typeof body?.content === "string" && { "content-type": body.type }) },
    body: body?.content,
    selectsFields: query.some(({ name }) => name === "fields"),
  };
}

const headerValues: Readonly<Record<string, readonly string[]>> = {
  "If-Match": ["*", '"x"'],
  "If-None-Match": ["*", '"x"'],
  "Idempotency-Key": ["one", "two", "three", "four", "five", "six", "seven", "x".repeat(300)],
};

class RandomValues {
  readonly #api: DescribedApi;
  readonly #ids: ReadonlyMap<string, readonly string[]>;
  readonly #draw: Draw;
  readonly #isValid: boolean;

  constructor(api: DescribedApi, ids: ReadonlyMap<string, readonly string[]>, draw: Draw, isValid: boolean) {
    this.#api = api;
    this.#ids = ids;
    this.#draw = draw;
    this.#isValid = isValid;
  }

  /** An id in the path: of a row that exists, or of none. */
  id({ example, schema }: ParameterObject): string {
    const known = typeof example === "string" ? this.#ids.get(prefixOf(example)) : undefined;
    const others = [String(example), ...(this.#isValid ? [] : ["x", "%00", "a".repeat(120), "ü"])];
    if (known) return this.#draw([...known, ...known, ...others]);
    return String(this.#draw([this.value(schema), ...others]));
  }

  parameter({ schema, name, explode }: ParameterObject): readonly string[] {
    if (!this.#isValid && this.#draw([true, false])) return [this.#draw(wrongTexts)];
    if (name === "fields")
      return [
        this.#draw(["id", "id,createdAt", "createdAt", "id,project.name", "project.oldName", "unknown"]),
      ];
    if (name === "sort") return [this.#draw(["createdAt", "-createdAt", "name", "-title,createdAt"])];
    const value = this.value(schema);
    if (!Array.isArray(value)) return [String(value)];
    return explode ? value.map(String) : [value.join(",")];
  }

  body({ content }: RequestBody): { readonly type: string; readonly content: string | FormData } {
    const type = this.#draw(Object.keys(content));
    const { schema, example } = content[type]!;
    if (type === "multipart/form-data") return { type, content: this.#form(schema) };
    if (!type.endsWith("json") || schema.type === "string")
      return { type, content: this.#draw(['{"name":"a"}\n{"x":1}\n', "", "name\na\n", '{"name"']) };
    if (!this.#isValid && this.#draw([true, false, false]))
      return { type, content: this.#draw(["", "{", "[]", "null", "7"]) };
    const value =
      example !== undefined && this.#draw([true, false, false]) ? (example as Json) : this.value(schema);
    return { type, content: JSON.stringify(this.#isValid ? value : this.#spoiled(value)) };
  }

  #form(reference: Schema): FormData {
    const { properties = {} } = this.#api.resolve<Schema>(reference as { $ref: string });
    const isFile = (name: string): boolean =>
      (properties as Readonly<Record<string, Schema>>)[name]?.format === "binary";
    const value = this.value(reference);
    const form = new FormData();
    for (const [name, each] of Object.entries(this.#isValid ? value! : (this.#spoiled(value) ?? {})))
      if (isFile(name)) form.append(name, new File(["\x89PNG\r\n\x1a\n"], "a.png", { type: "image/png" }));
      else form.append(name, typeof each === "string" ? each : JSON.stringify(each));
    return form;
  }

  /** The value without a member, with another one, or with one of another type. */
  #spoiled(value: Json): Json {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const names = [...Object.keys(value), "unknown"];
    const name = this.#draw(names);
    const { [name]: _, ...others } = value;
    return this.#draw([true, false]) ? others : { ...value, [name]: this.#draw(wrongValues) };
  }

  value(reference: Schema): Json {
    const schema = this.#api.resolve<Schema>(reference as { $ref: string });
    if (Array.isArray(schema.enum)) return this.#draw(schema.enum as Json[]);
    const type = this.#draw([schema.type ?? "string"].flat() as string[]);
    switch (type) {
      case "object":
        return this.#object(schema);
      case "array":
        return Array.from({ length: this.#draw([0, 1, 2]) }, () =>
          this.value((schema.items ?? {}) as Schema),
        );
      case "integer":
      case "number":
        return this.#draw([schema.minimum ?? 0, schema.maximum ?? 1000, 1] as number[]);
      case "boolean":
        return this.#draw([true, false]);
      case "null":
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object({ properties = {}, required = [] }: Schema): Json {
    const members = Object.entries(properties as Readonly<Record<string, Schema>>);
    const needed = required as readonly string[];
    return Object.fromEntries(
      members
        .filter(([name]) => needed.includes(name) || this.#draw([true, false]))
        .map(([name, schema]) => [name, this.#member(name, schema)]),
    );
  }

  /** A reference names a row that exists. */
  #member(name: string, schema: Schema): Json {
    const of = (id: string): string => this.#draw([...(this.#ids.get(prefixOf(id)) ?? []), id]);
    if (name === "labelIds") return [of("label_x")];
    if (name === "blockedById") return of("issue_x");
    if (name.endsWith("Id")) return of(`user_x`);
    return this.value(schema);
  }

  #text({ format, pattern, minLength = 0, maxLength = 40 }: Schema): string {
    const texts: Readonly<Record<string, readonly string[]>> = {
      "date-time": ["2026-11-21T09:30:00.000Z", "2020-02-29T00:00:00+01:00"],
      date: ["2026-11-21", "2000-01-01"],
      email: ["ada@example.com", "grace@example.com"],
      uri: ["https://example.com/a"],
      decimal: ["1.00", "0.50", "12"],
    };
    if (typeof format === "string" && texts[format]) return this.#draw(texts[format]);
    if (pattern === "^\\S+$") return "row-1";
    if (typeof pattern === "string" && !pattern.includes("createdAt"))
      return this.#draw(["ABC", "ab-1", "abc", "XY"]);
    const text = this.#draw(["a", "Wörter 🙂", "a b c", "posts:read"]);
    return text.padEnd(Number(minLength), "x").slice(0, Number(maxLength));
  }
}

/** `issue_01k...` -> `issue` */
export function prefixOf(id: string): string {
  return id.slice(0, id.lastIndexOf("_"));
}
