// The object type of a resource's rows.

import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
} from "graphql";
import type { Attribute, Model, ResourceModel } from "../../model/model.ts";
import { withMapping } from "../fields/mapping-of.ts";
import { inverseListMapping, referenceMapping, valueMapping } from "../fields/row-members.ts";
import { type AttributeTypes, deprecationReason, isNullableOutput } from "./attribute-type.ts";
import { defaultListLimit, inverseLists, pascalCase } from "./naming.ts";
import { listOf, nodeInterface } from "./shared-types.ts";

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
    interfaces: resource.operations.has("get") ? [nodeInterface] : [],
    fields: () => {
      const fields: GraphQLFieldConfigMap<unknown, unknown> = {};
      for (const attribute of resource.attributes) {
        if (attribute.isInternal) continue;
        fields[attribute.name] = valueField(resource, attribute, types);
        const target = attribute.reference && rows.get(attribute.reference.target);
        if (target) fields[attribute.reference!.name] = referenceField(attribute, target);
      }
      for (const { name, resource: inList, reference } of lists) {
        fields[name] = {
          type: listOf(rows.get(inList)!),
          args: { first: { type: GraphQLInt, default: { value: defaultListLimit } } },
          description: "The newest rows, 100 at most.",
          ...withMapping(inverseListMapping(inList, reference)),
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
    ...withMapping(valueMapping(attribute)),
  };
}

/** A reference is null if a policy hides its row, so it is non-null only if the target has no policy. */
function referenceField(attribute: Attribute, row: GraphQLObjectType): GraphQLFieldConfig<unknown, unknown> {
  const isNullable = attribute.isNullable || attribute.reference!.target.isRestricted;
  return {
    type: isNullable ? row : new GraphQLNonNull(row),
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping(referenceMapping(attribute)),
  };
}
