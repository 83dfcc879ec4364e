// The object type of a resource's rows.

import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
} from "graphql";
import { earliestDeprecation } from "../../model/deprecation.ts";
import type { Attribute, CountModel, Model, ResourceModel } from "../../model/model.ts";
import { deletedAtField } from "../fields/deleted-rows.ts";
import { fileMapping } from "../fields/file-members.ts";
import { withMapping } from "../fields/mapping-of.ts";
import {
  countMapping,
  inverseListMapping,
  linkedListMapping,
  referenceMapping,
  valueMapping,
} from "../fields/row-members.ts";
import { type AttributeTypes, deprecationReason, isNullableOutput } from "./attribute-type.ts";
import { fileType } from "./file-type.ts";
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
        if (target) fields[attribute.reference!.name] = referenceField(resource, attribute, target);
        const linked = attribute.links && rows.get(attribute.links.target);
        if (linked) fields[attribute.links!.name] = linkedField(attribute, linked);
      }
      for (const each of resource.counts.values()) fields[each.name] = countField(each);
      if (resource.isSoftDeleted) Object.assign(fields, deletedAtField());
      for (const { name, resource: inList, reference } of lists) {
        fields[name] = {
          type: listOf(rows.get(inList)!),
          args: { first: { type: GraphQLInt, default: { value: defaultListLimit } } },
          description: "The newest rows, 100 at most.",
          deprecationReason: deprecationReason(
            earliestDeprecation([inList.deprecatedOperations.list, inList.deprecated]),
          ),
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
  const isFile = attribute.field.kind === "file";
  const type = isFile ? fileType : types.of(resource, attribute);
  return {
    type: isNullableOutput(attribute) ? type : new GraphQLNonNull(type),
    description: attribute.field.options.description ?? null,
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping(isFile ? fileMapping(attribute) : valueMapping(attribute)),
  };
}

/** The rows of a many-to-many field. */
function linkedField(attribute: Attribute, row: GraphQLObjectType): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: listOf(row),
    args: { first: { type: GraphQLInt } },
    description: "In the order of their ids, 100 at most.",
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping(linkedListMapping(attribute)),
  };
}

function countField(count: CountModel): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: new GraphQLNonNull(GraphQLInt),
    description: count.description ?? null,
    deprecationReason: deprecationReason(count.deprecated),
    ...withMapping(countMapping(count)),
  };
}

/**
 * A reference is null if a policy hides its row, so it is non-null only if the target has no policy. That of a deleted row is
 * also null if its row was deleted.
 */
function referenceField(
  { isSoftDeleted }: ResourceModel,
  attribute: Attribute,
  row: GraphQLObjectType,
): GraphQLFieldConfig<unknown, unknown> {
  const isNullable = attribute.isNullable || attribute.reference!.target.isRestricted || isSoftDeleted;
  return {
    type: isNullable ? row : new GraphQLNonNull(row),
    deprecationReason: deprecationReason(attribute.deprecated),
    ...withMapping(referenceMapping(attribute)),
  };
}
