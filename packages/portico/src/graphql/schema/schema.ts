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
import { connectionType } from "../fields/connection.ts";
import { pageArgumentsOf } from "../fields/list-arguments.ts";
import type { ResourceTypes } from "../fields/root-field.ts";
import { AttributeTypes } from "./attribute-type.ts";
import { mutationType, queryType, subscriptionType } from "./root-types.ts";
import { rowType } from "./row-type.ts";

/** A schema, and the resources of its types. */
export interface Api {
  readonly schema: GraphQLSchema;
  readonly resourceOf: ReadonlyMap<GraphQLNamedType, ResourceModel>;
  readonly typeOf: ReadonlyMap<ResourceModel, GraphQLObjectType>;
  /** The resources that `search` searches. */
  readonly searched: readonly ResourceModel[];
}

/** @throws OperatorError if two types or fields would have the same name */
export function buildApi(model: Model): Api {
  const resources = model.resources.filter(({ isExposed }) => isExposed);
  const attributeTypes = new AttributeTypes();
  const rows = new Map<ResourceModel, GraphQLObjectType>();
  for (const resource of resources) rows.set(resource, rowType(model, resource, rows, attributeTypes));
  const types = resources.map((resource): ResourceTypes => {
    const row = rows.get(resource)!;
    const pageArguments = pageArgumentsOf(resource, attributeTypes);
    return { resource, row, connection: connectionType(row), pageArguments, attributeTypes };
  });
  const searched = resources.filter(
    ({ search, parent, operations }) => search.length > 0 && !parent && operations.has("list"),
  );
  const schema = checkedSchema({
    query: queryType(types, { rows, searched }),
    mutation: mutationType(types),
    subscription: subscriptionType(types),
    types: [...rows.values()],
  });
  const resourceOf = new Map(types.map(({ row, resource }) => [row, resource]));
  return { schema, resourceOf, typeOf: rows, searched };
}

function checkedSchema(config: GraphQLSchemaConfig): GraphQLSchema {
  try {
    const schema = new GraphQLSchema(config);
    const [error] = validateSchema(schema);
    if (!error) return schema;
    throw error;
  } catch (error) {
    throw new OperatorError(
      `the declarations do not make a valid GraphQL schema: ${(error as Error).message} Rename a resource or field.`,
    );
  }
}
