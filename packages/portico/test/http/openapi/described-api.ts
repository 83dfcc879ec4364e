// An OpenAPI description, and what it says about responses: whether a response is one that it lists.

import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type {
  MediaType,
  OpenApiDescription,
  OperationObject,
  ParameterObject,
  PathItem,
  ResponseObject,
} from "../../../src/openapi/description.ts";

export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
  readonly parameters: readonly ParameterObject[];
}

/** Headers that a response may only have if they are listed. */
const listedHeaders = [
  ...[
    "accept-encoding",
    "accept-ranges",
    "allow",
    "content-disposition",
    "content-range",
    "deprecation",
    "etag",
    "idempotent-replayed",
    "link",
    "location",
  ],
  ...["ratelimit", "ratelimit-policy", "retry-after", "sunset", "total-count", "www-authenticate"],
  "x-request-id",
];

export class DescribedApi {
  readonly description: OpenApiDescription;
  readonly operations: readonly DescribedOperation[];
  /** Validates bodies, which may have no members that the description does not know. */
  readonly #strict: Ajv2020;
  /** The same for rows of which a request selects some fields. */
  readonly #partial: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(description: OpenApiDescription) {
    this.description = description;
    this.operations = Object.entries(description.paths).flatMap(([path, item]) =>
      this.#operationsOf(path, item),
    );
    this.#strict = ajvFor(description, (schema) => ({ additionalProperties: false, ...schema }));
    this.#partial = ajvFor(description, ({ required: _, ...schema }) => schema);
  }

  #operationsOf(path: string, { servers: _, ...item }: PathItem): DescribedOperation[] {
    return Object.entries(item).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path, operation },
      parameters: (operation.parameters ?? []).map((each) => this.resolve<ParameterObject>(each)),
    }));
  }

  /** What a reference refers to, or the object itself. */
  resolve<T extends object>(object: T | { readonly $ref: string }): T {
    if (!("$ref" in object)) return object;
    let found: unknown = this.description;
    for (const part of object.$ref.split("/").slice(1)) found = (found as Record<string, unknown>)[part];
    return found as T;
  }

  /** Asserts that a response is as the description of its operation says. */
  assertDescribed(
    { operation }: DescribedOperation,
    response: Response,
    text: string,
    isPartial = false,
  ): void {
    const { operationId, responses } = operation;
    const { status, headers } = response;
    const listed = responses[status];
    assert.ok(listed, `${operationId}: the status ${status} is not listed: ${text.slice(0, 500)}`);
    const { headers: known = {}, content } = this.resolve<ResponseObject>(listed);
    const names = Object.keys(known).map((name) => name.toLowerCase());
    const unlisted = listedHeaders.filter((name) => headers.has(name) && !names.includes(name));
    assert.deepEqual(unlisted, [], `${operationId} ${status}: headers that are not listed`);
    const [type = ""] = (headers.get("content-type") ?? "").split(";");
    if (text === "" && content === undefined) return;
    const media = content?.[type];
    assert.ok(media, `${operationId} ${status}: the type '${type}' is not listed`);
    if (!/[/+]json$/.test(type)) return;
    const body = JSON.parse(text);
    if (status >= 400 && media.examples) {
      const { code } = body.error ?? body.errors[0].extensions;
      assert.ok(code in media.examples, `${operationId} ${status}: ${code} is not listed`);
    }
    // An import that fails says which lines did, besides the error.
    const isOpen = isPartial || (status >= 400 && operationId.startsWith("import"));
    const errors = this.errorsOf(media.schema, body, isOpen);
    assert.deepEqual(errors, [], `${operationId} ${status}: ${text.slice(0, 1_000)}`);
  }

  /** What is wrong with a value. */
  errorsOf(schema: MediaType["schema"], value: unknown, isPartial = false): readonly string[] {
    const key = `${isPartial} ${JSON.stringify(schema)}`;
    let validate = this.#validators.get(key);
    if (!validate) {
      validate = (isPartial ? this.#partial : this.#strict).compile(absolute(schema));
      this.#validators.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(" "),
    );
  }
}

type Schema = MediaType["schema"];

/** References of a schema that is compiled alone lead into the description. */
function absolute(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components/', '"https://catalogue.test/api#/components/'),
  );
}

/** @param change changes each schema of an object whose members are listed */
function ajvFor({ components }: OpenApiDescription, change: (schema: Schema) => Schema): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  // It is a CommonJS module, whose types are those of an ECMAScript module.
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addFormat("binary", true);
  ajv.addFormat("decimal", /^-?\d+(\.\d+)?$/);
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [name, changed(schema, change)]);
  ajv.addSchema({ $id: "https://catalogue.test/api", components: { schemas: Object.fromEntries(schemas) } });
  return ajv;
}

function changed<T>(value: T, change: (schema: Schema) => Schema): T {
  if (Array.isArray(value)) return value.map((each) => changed(each, change)) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, changed(each, change)]));
  const isObject = [copy.type].flat().includes("object") && typeof copy.properties === "object";
  return (isObject ? change(copy) : copy) as T;
}
