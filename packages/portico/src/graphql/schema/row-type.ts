// The types of rows, and of pages of them.

import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLUnionType,
} from "graphql";
import type { Attribute, Model, ResourceModel } from "../../model/model.ts";
import { type AttributeTypes, deprecationReason, isNullableOutput } from "./attribute-type.ts";
import { type FieldMapping, type PageInfoField, pageInfoFields } from "./field-mapping.ts";
import { defaultListLimit, inverseLists, pascalCase } from "./naming.ts";

export type Fields = GraphQLFieldConfigMap<unknown, unknown>;

export const requiredId = new GraphQLNonNull(GraphQLID);

export const node = new GraphQLInterfaceType({
  name: "Node",
  description: "Anything with an id.",
  fields: { id: { type: requiredId } },
});

export const listOf = (type: GraphQLObjectType | GraphQLUnionType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

export function withMapping(mapping: FieldMapping): {
  readonly extensions: { readonly meaning: FieldMapping };
} {
  return { extensions: { meaning: mapping } };
}

export function rowType(
  model: Model,
  resource: ResourceModel,
  rows: ReadonlyMap<ResourceModel, GraphQLObjectType>,
  types: AttributeTypes,
): GraphQLObjectType {
  const lists = inverseLists(model, resource);
  return new GraphQLObjectType({
    name: pascalCase(resource.name),
    description: resource.description ?? null,
    interfaces: resource.operations.has("get") ? [node] : [],
    fields: () => {
      const fields: Fields = {};
      for (const attribute of resource.attributes) {
        if (attribute.isInternal) continue;
        fields[attribute.name] = valueField(resource, attribute, types);
        const row = attribute.reference && rows.get(attribute.reference.target);
        if (row) fields[attribute.reference!.name] = referenceField(attribute, row);
      }
      for (const { name, resource: inList, reference } of lists) {
        fields[name] = {
          type: listOf(rows.get(inList)!),
          args: { first: { type: GraphQLInt, default: { value: defaultListLimit } } },
          description: "The newest, 100 at most.",
          ...withMapping({ kind: "list", resource: inList, reference }),
        };
      }
      return fields;
    },
  });
}

function valueField(
  resource: ResourceModel,
  attribute: Attribute,
  types: AttributeTypes,
): GraphQLFieldConfig<unknown, unknown> {
  const type = types.of(resource, attribute);
  return {
    type: isNullableOutput(attribute) ? type : new GraphQLNonNull(type),
    description: attribute.field.options.description ?? null,
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping({ kind: "value", attribute }),
  };
}

/** A row that a policy hides from a caller is null, so only references to rows without any policy are never null. */
function referenceField(attribute: Attribute, row: GraphQLObjectType): GraphQLFieldConfig<unknown, unknown> {
  const isNullable = attribute.isNullable || attribute.reference!.target.isRestricted;
  return {
    type: isNullable ? row : new GraphQLNonNull(row),
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping({ kind: "row", reference: attribute }),
  };
}

const pageInfo = new GraphQLObjectType({
  name: "PageInfo",
  fields: Object.fromEntries(
    pageInfoFields.map((fact): [PageInfoField, GraphQLFieldConfig<unknown, unknown>] => {
      const type = fact.startsWith("has") ? new GraphQLNonNull(GraphQLBoolean) : GraphQLString;
      return [fact, { type, ...withMapping({ kind: "pageFact", fact }) }];
    }),
  ),
});

export function connectionType(resource: ResourceModel, row: GraphQLObjectType): GraphQLObjectType {
  const edge = new GraphQLObjectType({
    name: `${row.name}Edge`,
    fields: {
      node: { type: new GraphQLNonNull(row), ...withMapping({ kind: "edgeNode", resource }) },
      cursor: { type: new GraphQLNonNull(GraphQLString), ...withMapping({ kind: "edgeCursor" }) },
    },
  });
  return new GraphQLObjectType({
    name: `${row.name}Connection`,
    fields: {
      edges: { type: listOf(edge), ...withMapping({ kind: "edges", resource }) },
      pageInfo: { type: new GraphQLNonNull(pageInfo), ...withMapping({ kind: "pageInfo" }) },
    },
  });
}
