// Query, Mutation and Subscription. A new kind of root field is one entry in one of these lists.

import { type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLObjectType } from "graphql";
import { OperatorError } from "../../errors.ts";
import { earliestDeprecation } from "../../model/deprecation.ts";
import { connection } from "../fields/connection.ts";
import { eventLogFields } from "../fields/event-log.ts";
import { rowEvents } from "../fields/events.ts";
import { withMapping } from "../fields/mapping-of.ts";
import { meField } from "../fields/me.ts";
import type {
  ResourceFieldKind,
  ResourceTypes,
  RootField,
  SharedFieldKind,
  SharedTypes,
} from "../fields/root-field.ts";
import { createRow, deleteRow, runAction, runCollectionAction, updateRow } from "../fields/row-mutations.ts";
import { newestRows, nodeById, rowById } from "../fields/rows.ts";
import { searchField } from "../fields/search.ts";
import { deprecationReason } from "./attribute-type.ts";

const queryKinds: readonly ResourceFieldKind[] = [rowById, newestRows, connection];
const sharedQueryKinds: readonly SharedFieldKind[] = [nodeById, searchField, meField, eventLogFields];
const mutationKinds: readonly ResourceFieldKind[] = [
  createRow,
  updateRow,
  deleteRow,
  runAction,
  runCollectionAction,
];
const subscriptionKinds: readonly ResourceFieldKind[] = [rowEvents];

/** @throws OperatorError if two fields have the same name */
export function queryType(types: readonly ResourceTypes[], shared: SharedTypes): GraphQLObjectType {
  const fields = resourceFields(queryKinds, types);
  for (const kind of sharedQueryKinds)
    for (const field of kind(shared)) addField(fields, field.name, configOf(field));
  return new GraphQLObjectType({ name: "Query", fields });
}

export function mutationType(types: readonly ResourceTypes[]): GraphQLObjectType {
  return new GraphQLObjectType({ name: "Mutation", fields: resourceFields(mutationKinds, types) });
}

/** Null if no resource records events. */
export function subscriptionType(types: readonly ResourceTypes[]): GraphQLObjectType | null {
  const fields = resourceFields(subscriptionKinds, types);
  return Object.keys(fields).length > 0 ? new GraphQLObjectType({ name: "Subscription", fields }) : null;
}

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

function resourceFields(kinds: readonly ResourceFieldKind[], types: readonly ResourceTypes[]): Fields {
  const fields: Fields = {};
  for (const each of types)
    for (const kind of kinds)
      for (const field of kind(each))
        addField(fields, field.name, {
          ...configOf(field),
          deprecationReason: deprecationReason(
            earliestDeprecation([field.deprecated, each.resource.deprecated]),
          ),
        });
  return fields;
}

function configOf({
  name,
  mapping,
  deprecated: _,
  ...config
}: RootField): GraphQLFieldConfig<unknown, unknown> {
  return { ...config, ...withMapping(mapping) };
}

function addField(fields: Fields, name: string, field: GraphQLFieldConfig<unknown, unknown>): void {
  if (Object.hasOwn(fields, name))
    throw new OperatorError(`the GraphQL schema would have two fields named ${name}; rename a resource`);
  fields[name] = field;
}
