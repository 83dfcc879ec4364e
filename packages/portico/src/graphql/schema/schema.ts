// The schema, derived from the model.

import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLSchema,
  type GraphQLSchemaConfig,
  validateSchema,
} from "graphql";
import { OperatorError } from "../../errors.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import { AttributeTypes } from "./attribute-type.ts";
import {
  mutationType,
  pageArgumentsOf,
  queryType,
  type ResourceTypes,
  subscriptionType,
} from "./root-types.ts";
import { connectionType, rowType } from "./row-type.ts";

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
  const resources = model.resources.filter(({ isExposed }) => isExposed);
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
