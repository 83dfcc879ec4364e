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
import type { ResourceModel } from "../declare/model.ts";
import { OperatorError } from "../errors.ts";
import { defaultLimit } from "../plan/page.ts";
import { type AttributeTypes, deprecationReason } from "./attribute-type.ts";
import { actionInput, createInput, filterInput, isOptionalInput, sortEnum, updateInput } from "./inputs.ts";
import type { EventAction } from "./meaning.ts";
import { plainLimit } from "./naming.ts";
import { type Fields, listOf, meant, node, requiredId } from "./row-type.ts";

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
      add(fields, resource.name, {
        type: row,
        args: { id: { type: requiredId } },
        description: `The ${title} with an id, or null where there is none.`,
        ...common,
        ...meant({ kind: "one", resource }),
      });
    }
    if (!operations.has("list")) continue;
    add(fields, resource.plural, {
      type: listOf(row),
      args: { ...parentArgument(resource), limit: { type: GraphQLInt, default: { value: plainLimit } } },
      description: "The newest, 100 at most.",
      ...common,
      ...meant({ kind: "first", resource }),
    });
    add(fields, `${resource.plural}Connection`, {
      type: new GraphQLNonNull(connection),
      args: pageArguments,
      description: "Pages; a cursor of one list is refused on another.",
      ...common,
      ...meant({ kind: "page", resource }),
    });
  }
  add(fields, "node", {
    type: node,
    args: { id: { type: requiredId } },
    description: "Whatever has this id, or null.",
    ...meant({ kind: "node" }),
  });
  if (searched.length > 0) add(fields, "search", searchField(searched, rows));
  return new GraphQLObjectType({ name: "Query", fields });
}

function searchField(
  searched: readonly ResourceModel[],
  rows: ReadonlyMap<ResourceModel, GraphQLObjectType>,
): GraphQLFieldConfig<unknown, unknown> {
  const found = new GraphQLUnionType({
    name: "SearchResult",
    types: searched.map((resource) => rows.get(resource)!),
  });
  return {
    type: listOf(found),
    args: {
      q: { type: new GraphQLNonNull(GraphQLString) },
      limit: { type: GraphQLInt, default: { value: plainLimit } },
    },
    description: "The newest rows of all that the credential may read in which every word begins a word.",
    ...meant({ kind: "search" }),
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
      add(fields, `create${row.name}`, {
        ...common,
        ...(creation && { args: { input: { type: new GraphQLNonNull(creation) } } }),
        ...meant({ kind: "create", resource }),
      });
    }
    const change = updateInput(attributeTypes, resource);
    if (change && operations.has("change")) {
      add(fields, `update${row.name}`, {
        ...common,
        args: { ...id, input: { type: new GraphQLNonNull(change) } },
        description: "Changes what the input names.",
        ...meant({ kind: "change", resource }),
      });
    }
    if (operations.has("remove")) {
      add(fields, `delete${row.name}`, {
        ...common,
        args: id,
        description: resource.removalMark
          ? `Sets ${resource.removalMark.name}; the record stays.`
          : "Answers with the row as it was.",
        ...meant({ kind: "remove", resource }),
      });
    }
    for (const action of resource.actions.values()) {
      if (action.verb === undefined) continue;
      const name = action.verb + row.name;
      const taken = actionInput(attributeTypes, name, action);
      const input = taken && { input: { type: isOptionalInput(action) ? taken : new GraphQLNonNull(taken) } };
      add(fields, name, {
        ...common,
        args: { ...id, ...input },
        ...meant({ kind: "act", resource, action }),
      });
    }
  }
  return new GraphQLObjectType({ name: "Mutation", fields });
}

/** What stands behind the name of a row for each event. */
const eventSuffixes: readonly (readonly [EventAction, string])[] = [
  ["created", "Created"],
  ["changed", "Updated"],
  ["removed", "Deleted"],
];

export function subscriptionType(types: readonly ResourceTypes[]): GraphQLObjectType | null {
  const fields: Fields = {};
  for (const { resource, row, pageArguments } of types.filter(({ resource: { isRecorded } }) => isRecorded)) {
    const { filter } = pageArguments;
    for (const [action, suffix] of eventSuffixes) {
      add(fields, resource.name + suffix, {
        type: new GraphQLNonNull(row),
        args: {
          ...(action !== "created" && { id: { type: GraphQLID } }),
          ...(resource.parent && { [resource.parent.name]: { type: GraphQLID } }),
          ...(filter && { filter }),
        },
        description: action === "removed" ? "The row as it was last; only its own fields." : null,
        deprecationReason: deprecationReason(resource.deprecated),
        ...meant({ kind: "event", resource, action }),
      });
    }
  }
  return Object.keys(fields).length > 0 ? new GraphQLObjectType({ name: "Subscription", fields }) : null;
}

function add(fields: Fields, name: string, field: GraphQLFieldConfig<unknown, unknown>): void {
  if (Object.hasOwn(fields, name))
    throw new OperatorError(`the GraphQL schema would have two fields named ${name}; rename a resource`);
  fields[name] = field;
}
