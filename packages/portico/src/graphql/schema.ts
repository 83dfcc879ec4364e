// The schema, derived from the model: the types of rows, and the operations on them.

import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLSchemaConfig,
  GraphQLString,
  GraphQLUnionType,
  validateSchema,
} from "graphql";
import type { Attribute, Model, ResourceModel } from "../declare/model.ts";
import { OperatorError } from "../errors.ts";
import { defaultLimit } from "../plan/page.ts";
import { AttributeTypes, deprecationReason, isNullableOutput } from "./attribute-type.ts";
import { createInput, filterInput, sortEnum, updateInput } from "./inputs.ts";
import { type EventAction, type Meaning, type PageFact, pageFacts } from "./meaning.ts";
import { backwardLists, pascalCase, plainLimit } from "./naming.ts";

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

/** What is made of one resource. */
interface ResourceTypes {
  readonly resource: ResourceModel;
  readonly row: GraphQLObjectType;
  readonly connection: GraphQLObjectType;
  readonly pageArguments: GraphQLFieldConfigArgumentMap;
}

/** A schema, and the resources behind its types. */
export interface Api {
  readonly schema: GraphQLSchema;
  readonly resourceOf: ReadonlyMap<GraphQLNamedType, ResourceModel>;
  readonly typeOf: ReadonlyMap<ResourceModel, GraphQLObjectType>;
  /** What `search` looks into. */
  readonly searched: readonly ResourceModel[];
}

/** @throws OperatorError where two things would have one name */
export function buildApi(model: Model): Api {
  const resources = model.resources.filter(({ isServed }) => isServed);
  const attributeTypes = new AttributeTypes();
  const rows = new Map<ResourceModel, GraphQLObjectType>();
  for (const resource of resources) rows.set(resource, rowType(model, resource, rows, attributeTypes));
  const types = resources.map((resource): ResourceTypes => {
    const row = rows.get(resource)!;
    const pageArguments = pageArgumentsOf(resource, attributeTypes);
    return { resource, row, connection: connectionType(resource, row), pageArguments };
  });
  const searched = resources.filter(
    ({ search, parent, operations }) => search.length > 0 && !parent && operations.has("list"),
  );
  const schema = checkedSchema({
    query: queryType(types, searched, rows),
    mutation: mutationType(types, attributeTypes),
    subscription: subscriptionType(types),
    types: [...rows.values()],
  });
  const resourceOf = new Map(types.map(({ row, resource }) => [row, resource]));
  return { schema, resourceOf, typeOf: rows, searched };
}

function checkedSchema(config: GraphQLSchemaConfig): GraphQLSchema {
  try {
    const schema = new GraphQLSchema(config);
    const [mistake] = validateSchema(schema);
    if (!mistake) return schema;
    throw mistake;
  } catch (error) {
    throw new OperatorError(
      `the declarations make no GraphQL schema: ${(error as Error).message} Rename a resource or field.`,
    );
  }
}

const requiredId = new GraphQLNonNull(GraphQLID);

const node = new GraphQLInterfaceType({
  name: "Node",
  description: "Anything with an id.",
  fields: { id: { type: requiredId } },
});

const listOf = (type: GraphQLObjectType | GraphQLUnionType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

function meant(meaning: Meaning): { readonly extensions: { readonly meaning: Meaning } } {
  return { extensions: { meaning } };
}

function rowType(
  model: Model,
  resource: ResourceModel,
  rows: ReadonlyMap<ResourceModel, GraphQLObjectType>,
  types: AttributeTypes,
): GraphQLObjectType {
  const lists = backwardLists(model, resource);
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
          args: { first: { type: GraphQLInt, default: { value: plainLimit } } },
          description: "The newest, 100 at most.",
          ...meant({ kind: "list", resource: inList, reference }),
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
    ...meant({ kind: "value", attribute }),
  };
}

/** A row that a policy hides from a caller is null, so only references to resources without one are never null. */
function referenceField(attribute: Attribute, row: GraphQLObjectType): GraphQLFieldConfig<unknown, unknown> {
  const isNullable = attribute.isNullable || attribute.reference!.target.policy !== undefined;
  return {
    type: isNullable ? row : new GraphQLNonNull(row),
    deprecationReason: deprecationReason(attribute.deprecated),
    ...meant({ kind: "row", reference: attribute }),
  };
}

const pageInfo = new GraphQLObjectType({
  name: "PageInfo",
  fields: Object.fromEntries(
    pageFacts.map((fact): [PageFact, GraphQLFieldConfig<unknown, unknown>] => {
      const type = fact.startsWith("has") ? new GraphQLNonNull(GraphQLBoolean) : GraphQLString;
      return [fact, { type, ...meant({ kind: "pageFact", fact }) }];
    }),
  ),
});

function connectionType(resource: ResourceModel, row: GraphQLObjectType): GraphQLObjectType {
  const edge = new GraphQLObjectType({
    name: `${row.name}Edge`,
    fields: {
      node: { type: new GraphQLNonNull(row), ...meant({ kind: "edgeNode", resource }) },
      cursor: { type: new GraphQLNonNull(GraphQLString), ...meant({ kind: "edgeCursor" }) },
    },
  });
  return new GraphQLObjectType({
    name: `${row.name}Connection`,
    fields: {
      edges: { type: listOf(edge), ...meant({ kind: "edges", resource }) },
      pageInfo: { type: new GraphQLNonNull(pageInfo), ...meant({ kind: "pageInfo" }) },
    },
  });
}

function pageArgumentsOf(resource: ResourceModel, types: AttributeTypes): GraphQLFieldConfigArgumentMap {
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

function queryType(
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

function mutationType(types: readonly ResourceTypes[], attributeTypes: AttributeTypes): GraphQLObjectType {
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
  }
  return new GraphQLObjectType({ name: "Mutation", fields });
}

/** What stands behind the name of a row for each event. */
const eventSuffixes: readonly (readonly [EventAction, string])[] = [
  ["created", "Created"],
  ["changed", "Updated"],
  ["removed", "Deleted"],
];

function subscriptionType(types: readonly ResourceTypes[]): GraphQLObjectType | null {
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
