// The JSON Schemas of tools, which assistants read and clients compile. They validate nothing here: the API validates the
// request that a call becomes.

import { ajvKeywords, type JsonSchema } from "../model/json-schema.ts";

/** Formats that only the server knows. */
const ownFormats: readonly unknown[] = ["decimal"];

/** A schema without keywords and formats that clients do not know. */
export function portableSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) =>
    Object.fromEntries(
      Object.entries(each).filter(
        ([keyword, value]) =>
          !ajvKeywords.has(keyword) && !(keyword === "format" && ownFormats.includes(value)),
      ),
    ),
  );
}

/**
 * The schema of an answer, which `fields` may narrow and later versions may extend: no member is required, and others are
 * allowed. Some clients also validate errors against it.
 */
export function answerSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(portableSchema(schema), ({ required: _, additionalProperties, ...rest }) =>
    additionalProperties === false || additionalProperties === undefined
      ? rest
      : { ...rest, additionalProperties },
  );
}

const mapKeywords = ["properties", "patternProperties", "$defs"];
const schemaKeywords = ["items", "additionalProperties"];
const listKeywords = ["anyOf", "oneOf", "allOf"];

/** A schema in which a function has replaced each schema, inner ones first. */
function mapSchema(schema: JsonSchema, replace: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const map = (value: unknown): unknown => (isObject(value) ? mapSchema(value, replace) : value);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (mapKeywords.includes(keyword) && isObject(value))
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each)]))];
    if (schemaKeywords.includes(keyword)) return [keyword, map(value)];
    if (listKeywords.includes(keyword) && Array.isArray(value)) return [keyword, value.map(map)];
    return [keyword, value];
  });
  return replace(Object.fromEntries(entries));
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
