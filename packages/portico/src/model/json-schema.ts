// JSON Schemas of request and response bodies, in the vocabulary that draft 2020-12 shares with the default dialect of
// Ajv. They validate requests and describe operations.

import { standardMaxItems } from "../declare/field.ts";
import type { DecimalOptions, JsonSchema } from "../declare/field-options.ts";
import { canonicalDecimal, maxDecimal } from "../lib/decimal.ts";
import type { Attribute, AttributeShape, ResourceModel } from "./model.ts";

export type { JsonSchema } from "../declare/field-options.ts";

/** The maximum length of a text with a pattern or a format and without `max`; it bounds the cost of the test. */
export const defaultMaxLength = 2_000;

/** Keywords of Ajv that JSON Schema does not have, so descriptions of the API leave them out. */
export const ajvKeywords: ReadonlySet<string> = new Set(["formatMinimum", "formatMaximum"]);

export interface BodySchemas {
  readonly create: JsonSchema;
  readonly replace: JsonSchema;
  readonly update: JsonSchema;
  /** The values that hooks can set, including fields that callers cannot set. */
  readonly hookResult: JsonSchema;
}

type Described = Pick<ResourceModel, "attributes">;

/** The schemas of all bodies. `create` and `replace` require every field without a default, the others none. */
export function bodySchemas(resource: Described): BodySchemas {
  const writable = resource.attributes.filter((attribute) => !attribute.isReadOnly);
  const updatable = writable.filter((attribute) => !attribute.isImmutable);
  const declared = resource.attributes.filter(({ isServerManaged }) => !isServerManaged);
  const isRequired = ({ isOptional, field }: Attribute): boolean =>
    !isOptional && !("default" in field.options);
  return {
    create: bodySchema(writable, isRequired),
    replace: bodySchema(updatable, isRequired),
    update: bodySchema(updatable, () => false, patchSchema),
    hookResult: bodySchema(declared, () => false),
  };
}

function bodySchema(
  attributes: readonly Attribute[],
  isRequired: (attribute: Attribute) => boolean,
  schemaOf: (attribute: Attribute) => JsonSchema = attributeSchema,
): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(attributes.map((attribute) => [attribute.name, schemaOf(attribute)])),
    required: attributes.filter(isRequired).map((attribute) => attribute.name),
    additionalProperties: false,
  };
}

/** The schema of a row in a response. */
export function rowSchema(resource: Described): JsonSchema {
  const shown = resource.attributes.filter(({ isInternal }) => !isInternal);
  return bodySchema(shown, () => true, shownSchema);
}

/** The schema of a page: `{ "data": [...], "pagination": { "nextCursor", "hasMore", ... } }` */
export function listSchema(resource: Pick<ResourceModel, "attributes" | "paging">): JsonSchema {
  const isNumbered = resource.paging === "page";
  return {
    type: "object",
    properties: {
      data: { type: "array", items: rowSchema(resource) },
      pagination: {
        type: "object",
        properties: {
          nextCursor: { type: isNumbered ? "null" : ["string", "null"] },
          hasMore: { type: "boolean" },
          ...(isNumbered ? { total: { type: "integer" } } : { prevCursor: { type: "string" } }),
        },
        required: ["nextCursor", "hasMore", ...(isNumbered ? ["total"] : [])],
      },
    },
    required: ["data", "pagination"],
  };
}

/** Whether a change of the field is merged with its value, so that only the merged object can be validated. */
export function isMergePatched({ field }: Attribute): boolean {
  if (field.kind !== "json" || !field.options.schema) return false;
  const { type = "object" } = field.options.schema;
  return [type].flat().includes("object");
}

function patchSchema(attribute: Attribute): JsonSchema {
  const whole = attributeSchema(attribute);
  return isMergePatched(attribute) ? mergePatchSchema(whole) : whole;
}

/** The schema of a merge patch before it is merged: members match their schemas, or are null to be removed. */
function mergePatchSchema({
  type,
  properties,
  patternProperties,
  additionalProperties,
}: JsonSchema): JsonSchema {
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  return withoutUndefined({
    type,
    properties:
      properties && Object.fromEntries(members.map(([name, schema]) => [name, memberSchema(schema)])),
    additionalProperties: additionalProperties === false && !patternProperties ? false : undefined,
  });
}

function memberSchema(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  const isPlain = typeof type === "string" && type !== "object" && schema.enum === undefined;
  return isPlain ? { ...schema, type: [type, "null"] } : {};
}

/** The schema of the value of an attribute in a response. */
function shownSchema(attribute: Attribute): JsonSchema {
  return attributeSchema(attribute, attribute.field.kind === "file" ? fileSchema : undefined);
}

/** A file in a response. */
const fileSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    type: { type: "string" },
    size: { type: "integer" },
    url: { type: "string", format: "uri" },
  },
  required: ["id", "name", "type", "size", "url"],
};

/** The schema of the value of an attribute. */
export function attributeSchema(
  { field, isOptional }: Attribute,
  value: JsonSchema = valueSchema(field),
): JsonSchema {
  const schema: { [keyword: string]: unknown } = {
    ...value,
    ...(field.options.description && { description: field.options.description }),
    ...(field.options.deprecated && { deprecated: true }),
  };
  if (!isOptional || schema.type === undefined) return schema;
  const { type, enum: choices, ...rest } = schema;
  return {
    ...rest,
    type: [...[type].flat(), "null"],
    ...(choices ? { enum: [...(choices as string[]), null] } : {}),
  };
}

function valueSchema(field: AttributeShape): { [keyword: string]: unknown } {
  switch (field.kind) {
    case "text": {
      const { min, max, format, pattern, default: value } = field.options;
      return withoutUndefined({
        type: "string",
        minLength: min,
        maxLength: max ?? (format || pattern ? defaultMaxLength : undefined),
        format,
        pattern: pattern && `^(?:${pattern.source})$`,
        default: constantDefault(value),
      });
    }
    case "integer":
      return withoutUndefined({
        type: "integer",
        minimum: field.options.min ?? Number.MIN_SAFE_INTEGER,
        maximum: field.options.max ?? Number.MAX_SAFE_INTEGER,
        default: constantDefault(field.options.default),
      });
    case "number":
      return withoutUndefined({
        type: "number",
        minimum: field.options.min,
        maximum: field.options.max,
        default: constantDefault(field.options.default),
      });
    case "decimal":
      return decimalSchema(field.options);
    case "boolean":
      return withoutUndefined({ type: "boolean", default: constantDefault(field.options.default) });
    case "timestamp":
      return { type: "string", format: "date-time" };
    case "date": {
      const { min, max, default: value } = field.options;
      return withoutUndefined({
        ...{ type: "string", format: "date", formatMinimum: min, formatMaximum: max },
        default: value === "today" ? undefined : value,
      });
    }
    case "choice":
      return withoutUndefined({ type: "string", enum: field.choices, default: field.options.default });
    case "json":
      return withoutUndefined({ ...field.options.schema, default: constantDefault(field.options.default) });
    case "list": {
      const { min, max, uniqueItems, default: value } = field.options;
      return withoutUndefined({
        type: "array",
        items: valueSchema(field.item),
        minItems: min,
        maxItems: max ?? standardMaxItems,
        uniqueItems,
        default: constantDefault(value),
      });
    }
    case "manyToMany":
      return {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 255 },
        maxItems: field.options.max ?? standardMaxItems,
        uniqueItems: true,
        default: [],
      };
    case "computedStatus":
      return { type: "string", enum: field.choices };
    case "id":
      return { type: "string", minLength: 1, maxLength: 255, pattern: "^\\S+$" };
    case "file":
    case "belongsTo":
      return { type: "string", minLength: 1, maxLength: 255 };
  }
}

/** A text, because a reader of JSON may round a number. `formatMinimum` and `formatMaximum` compare it as a number. */
function decimalSchema({ precision, scale, min, max, default: value }: DecimalOptions): {
  [keyword: string]: unknown;
} {
  const most = maxDecimal(precision, scale);
  const fraction = scale === 0 ? "" : `(?:\\.\\d{1,${scale}})?`;
  return withoutUndefined({
    ...{ type: "string", format: "decimal", pattern: `^-?(?:0|[1-9]\\d*)${fraction}$` },
    // A minus, a zero and a point besides the digits.
    maxLength: precision + 3,
    formatMinimum: canonicalDecimal(min ?? `-${most}`, scale),
    formatMaximum: canonicalDecimal(max ?? most, scale),
    default: constantDefault(value),
  });
}

function constantDefault(value: unknown): unknown {
  return typeof value === "function" ? undefined : value;
}

function withoutUndefined(schema: { [keyword: string]: unknown }): { [keyword: string]: unknown } {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
