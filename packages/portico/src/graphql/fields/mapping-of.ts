// The mapping of a field of the schema.

import type { GraphQLField, GraphQLFieldConfig } from "graphql";
import { type FieldMapping, objectMapping } from "./field-mapping.ts";
import { introspectionMapping, typeNameMapping } from "./meta-fields.ts";

/** The property of a field configuration that carries its mapping. */
export function withMapping(mapping: FieldMapping): Pick<GraphQLFieldConfig<unknown, unknown>, "extensions"> {
  return { extensions: { mapping } };
}

/** graphql-js adds the meta-fields to the schema, so they carry no mapping. */
const metaFields: ReadonlyMap<string, FieldMapping> = new Map([
  ["__typename", typeNameMapping],
  ["__schema", introspectionMapping],
  ["__type", introspectionMapping],
]);

export function mappingOf({ name, extensions }: GraphQLField<unknown, unknown>): FieldMapping {
  // Only `withMapping` sets the extension. Fields of the introspection types have none.
  const mapping = extensions.mapping as FieldMapping | undefined;
  return mapping ?? metaFields.get(name) ?? objectMapping;
}
