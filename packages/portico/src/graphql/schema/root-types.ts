// The operations: what stands at the root of a query, a mutation and a subscription.

import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  GraphQLUnionType,
} from "graphql";
import { OperatorError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import { defaultLimit } from "../../model/operation-parameters.ts";
import { type AttributeTypes, deprecationReason } from "./attribute-type.ts";
import type { EventAction } from "./field-mapping.ts";
import { actionInput, createInput, filterInput, isOptionalInput, sortEnum, updateInput } from "./inputs.ts";
import { defaultListLimit } from "./naming.ts";
import { type Fields, listOf, node, requiredId, withMapping } from "./row-type.ts";

/** What is made of one resource. */
export interface ResourceTypes {
  readonly resource: ResourceModel;
  readonly row: GraphQLObjectType;
  readonly connection: GraphQLObjectType;
  readonly pageArguments: GraphQLFieldConfigArgumentMap;
}

export function pageArgumentsOf(
  resource: ResourceModel,
  types: AttributeTypes,
): GraphQLFieldConfigArgumentMap {
  const filter = filterInput(types, resource);
  return {
    ...parentArgument(resource),
    first: { type: GraphQLInt, description: `${defaultLimit} when left out, 100 at most.` },
    after: { type: GraphQLString },
    last: { type: GraphQLInt },
    before: { type: GraphQLString },
    ...(filter && { filter: { type: filter } }),
    sort: { type: sortEnum(resource), default: { value: "CREATED_AT_DESC" } },
  };
}

/** The row that a list stands under. */
function parentArgument({ parent }: ResourceModel): GraphQLFieldConfigArgumentMap {
  return parent ? { [parent.name]: { type: requiredId } } : {};
}

export function queryType(
  types: readonly ResourceTypes[],
  searched: readonly ResourceModel[],
  rows: ReadonlyMap<ResourceModel, GraphQLObjectType>,
): GraphQLObjectType {
  const fields: Fields = {};
  for (const { resource, row, connection, pageArguments } of types) {
    const { title, operations } = resource;
    const common = { deprecationReason: deprecationReason(resource.deprecated) };
    if (operations.has("get")) {
      addField(fields, resource.name, {
        type: row,
        args: { id: { type: requiredId } },
        description: `The ${title} with an id, or null where there is none.`,
        ...common,
        ...withMapping({ kind: "one", resource }),
      });
    }
    if (!operations.has("list")) continue;
    addField(fields, resource.plural, {
      type: listOf(row),
      args: {
        ...parentArgument(resource),
        limit: { type: GraphQLInt, default: { value: defaultListLimit } },
      },
      description: "The newest, 100 at most.",
      ...common,
      ...withMapping({ kind: "first", resource }),
    });
    addField(fields, `${resource.plural}Connection`, {
      type: new GraphQLNonNull(connection),
      args: pageArguments,
      description: "Pages; a cursor of one list is refused on another.",
      ...common,
      ...withMapping({ kind: "page", resource }),
    });
  }
  addField(fields, "node", {
    type: node,
    args: { id: { type: requiredId } },
    description: "Whatever has this id, or null.",
    ...withMapping({ kind: "node" }),
  });
  if (searched.length > 0) addField(fields, "search", searchField(searched, rows));
  return new GraphQLObjectType({ name: "Query", fields });
}

function searchField(
  searched: readonly ResourceModel[],
  rows: ReadonlyMap<ResourceModel, GraphQLObjectType>,
): GraphQLFieldConfig<unknown, unknown> {
  const resultType = new GraphQLUnionType({
    name: "SearchResult",
    types: searched.map((resource) => rows.get(resource)!),
  });
  return {
    type: listOf(resultType),
    args: {
      q: { type: new GraphQLNonNull(GraphQLString) },
      limit: { type: GraphQLInt, default: { value: defaultListLimit } },
    },
    description: "The newest rows of all that the credential may read in which every word begins a word.",
    ...withMapping({ kind: "search" }),
  };
}

export function mutationType(
  types: readonly ResourceTypes[],
  attributeTypes: AttributeTypes,
): GraphQLObjectType {
  const fields: Fields = {};
  for (const { resource, row } of types) {
    const id = { id: { type: requiredId } };
    const { operations } = resource;
    const common = {
      type: new GraphQLNonNull(row),
      deprecationReason: deprecationReason(resource.deprecated),
    };
    const creation = createInput(attributeTypes, resource);
    if (operations.has("create")) {
      addField(fields, `create${row.name}`, {
        ...common,
        ...(creation && { args: { input: { type: new GraphQLNonNull(creation) } } }),
        ...withMapping({ kind: "create", resource }),
      });
    }
    const change = updateInput(attributeTypes, resource);
    if (change && operations.has("update")) {
      addField(fields, `update${row.name}`, {
        ...common,
        args: { ...id, input: { type: new GraphQLNonNull(change) } },
        description: "Changes what the input names.",
        ...withMapping({ kind: "update", resource }),
      });
    }
    if (operations.has("delete")) {
      addField(fields, `delete${row.name}`, {
        ...common,
        args: id,
        description: resource.markOnDelete
          ? `Sets ${resource.markOnDelete.name}; the record stays.`
          : "Answers with the row as it was.",
        ...withMapping({ kind: "delete", resource }),
      });
    }
    for (const action of resource.actions.values()) {
      if (action.verb === undefined) continue;
      const name = action.verb + row.name;
      const inputType = actionInput(attributeTypes, name, action);
      const input = inputType && {
        input: { type: isOptionalInput(action) ? inputType : new GraphQLNonNull(inputType) },
      };
      addField(fields, name, {
        ...common,
        args: { ...id, ...input },
        ...withMapping({ kind: "act", resource, action }),
      });
    }
  }
  return new GraphQLObjectType({ name: "Mutation", fields });
}

/** What stands behind the name of a row for each event. */
const eventSuffixes: readonly (readonly [EventAction, string])[] = [
  ["created", "Created"],
  ["updated", "Updated"],
  ["deleted", "Deleted"],
];

export function subscriptionType(types: readonly ResourceTypes[]): GraphQLObjectType | null {
  const fields: Fields = {};
  for (const { resource, row, pageArguments } of types.filter(
    ({ resource: { recordsEvents } }) => recordsEvents,
  )) {
    const { filter } = pageArguments;
    for (const [action, suffix] of eventSuffixes) {
      addField(fields, resource.name + suffix, {
        type: new GraphQLNonNull(row),
        args: {
          ...(action !== "created" && { id: { type: GraphQLID } }),
          ...(resource.parent && { [resource.parent.name]: { type: GraphQLID } }),
          ...(filter && { filter }),
        },
        description: action === "deleted" ? "The row as it was last; only its own fields." : null,
        deprecationReason: deprecationReason(resource.deprecated),
        ...withMapping({ kind: "event", resource, action }),
      });
    }
  }
  return Object.keys(fields).length > 0 ? new GraphQLObjectType({ name: "Subscription", fields }) : null;
}

function addField(fields: Fields, name: string, field: GraphQLFieldConfig<unknown, unknown>): void {
  if (Object.hasOwn(fields, name))
    throw new OperatorError(`the GraphQL schema would have two fields named ${name}; rename a resource`);
  fields[name] = field;
}
