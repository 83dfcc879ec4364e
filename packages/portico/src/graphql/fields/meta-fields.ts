// The meta-fields of every schema (GraphQL, section 4): `__typename`, `__schema` and `__type`.

import type { CollectedField } from "../document/collect-fields.ts";
import { objectMapping, type RootFieldMapping, type RowFieldMapping } from "./field-mapping.ts";

/** The cost of `__schema` and `__type`, in rows. */
const introspectionCost = 100;

export const introspectionMapping: RootFieldMapping = {
  ...objectMapping,
  cost: () => introspectionCost,
  compile:
    (field) =>
    async ({ introspected }) =>
      introspected.get(field)!,
};

/** Whether a root field queries the schema. */
export function isIntrospection({ mapping }: CollectedField): boolean {
  return mapping === introspectionMapping;
}

/** Whether a root field is one that every schema has, and not one of the API. */
export function isMetaField(field: CollectedField): boolean {
  return isIntrospection(field) || field.mapping === typeNameMapping;
}

export const typeNameMapping: RootFieldMapping & RowFieldMapping = {
  ...objectMapping,
  compile: (field) => {
    const text = typeNameText(field);
    return async () => text;
  },
  toMember: ({ responseName, parentType }) => ({
    kind: "constant",
    name: responseName,
    text: parentType.name,
  }),
};

/** The value of `__typename` as JSON text. */
export function typeNameText({ parentType }: CollectedField): string {
  return `"${parentType.name}"`;
}
