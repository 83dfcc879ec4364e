// A root field: its name and types for the schema, and its mapping for everything else.

import type { GraphQLFieldConfig, GraphQLFieldConfigArgumentMap, GraphQLObjectType } from "graphql";
import type { Deprecation } from "../../declare/field-options.ts";
import type { ResourceModel } from "../../model/model.ts";
import type { AttributeTypes } from "../schema/attribute-type.ts";
import type { RootFieldMapping } from "./field-mapping.ts";

export interface RootField
  extends Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "args" | "description"> {
  readonly name: string;
  readonly mapping: RootFieldMapping;
  /** The deprecation of its operation, besides that of its resource. */
  readonly deprecated?: Deprecation | undefined;
}

/** The types of one resource. */
export interface ResourceTypes {
  readonly resource: ResourceModel;
  readonly row: GraphQLObjectType;
  readonly connection: GraphQLObjectType;
  /** The arguments of its connection. */
  readonly pageArguments: GraphQLFieldConfigArgumentMap;
  readonly attributeTypes: AttributeTypes;
}

/** A kind of root field that exists once for each resource. Returns no field where the resource does not allow it. */
export type ResourceFieldKind = (types: ResourceTypes) => readonly RootField[];

/** The types of all resources. */
export interface SharedTypes {
  readonly rows: ReadonlyMap<ResourceModel, GraphQLObjectType>;
  /** The resources that `search` searches. */
  readonly searched: readonly ResourceModel[];
}

/** A kind of root field that exists once for all resources. */
export type SharedFieldKind = (types: SharedTypes) => readonly RootField[];
