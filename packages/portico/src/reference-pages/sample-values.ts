// Values that match a schema, for examples where the description has none.

import type { JsonSchema } from "../model/json-schema.ts";
import type { MediaType } from "../openapi/description.ts";
import { exampleTexts } from "../openapi/examples.ts";
import type { Contents } from "./contents.ts";

/** Schemas may refer to themselves. */
const maxDepth = 6;

/** The example of a body: the declared one, or one made from its schema. */
export function exampleOf({ example, examples, schema }: MediaType, contents: Contents): unknown {
  if (example !== undefined) return example;
  const [first] = Object.values(examples ?? {});
  if (first) return contents.resolve(first).value;
  return sampleOf(schema, contents);
}

/** A value that a schema allows. Of the members of an object it has those that are required. */
export function sampleOf(schema: JsonSchema, contents: Contents, depth = 0): unknown {
  const resolved: JsonSchema = contents.resolve(schema);
  const { example, examples, default: fallback, const: constant, enum: choices } = resolved;
  if (example !== undefined) return example;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (constant !== undefined) return constant;
  if (Array.isArray(choices)) return choices[0];
  if (fallback !== undefined) return fallback;
  const [alternative] = (resolved.oneOf ?? resolved.anyOf ?? resolved.allOf ?? []) as readonly JsonSchema[];
  if (alternative) return sampleOf(alternative, contents, depth + 1);
  return sampleOfType(resolved, contents, depth);
}

function sampleOfType(schema: JsonSchema, contents: Contents, depth: number): unknown {
  switch ([schema.type].flat()[0]) {
    case "object":
      return depth > maxDepth ? {} : sampleObject(schema, contents, depth);
    case "array":
      return depth > maxDepth || !schema.items
        ? []
        : [sampleOf(schema.items as JsonSchema, contents, depth + 1)];
    case "integer":
    case "number":
      return Math.max(1, Number(schema.minimum ?? 1));
    case "boolean":
      return true;
    case "string":
      return sampleText(schema);
    default:
      return null;
  }
}

function sampleObject(schema: JsonSchema, contents: Contents, depth: number): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const required = (schema.required ?? []) as readonly string[];
  const shown =
    required.length > 0 ? properties.filter(([name]) => required.includes(name)) : properties.slice(0, 1);
  return Object.fromEntries(shown.map(([name, part]) => [name, sampleOf(part, contents, depth + 1)]));
}

function sampleText({ format, minLength }: JsonSchema): string {
  const sample = exampleTexts[String(format)] ?? "text";
  return sample.padEnd(Number(minLength ?? 0), "x");
}
