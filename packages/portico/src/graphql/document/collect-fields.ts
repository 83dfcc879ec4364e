// Collects the fields of an operation (GraphQL, section 6.3.2): arguments are coerced, fragments are expanded, and `@skip`
// and `@include` are applied.

import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  type InlineFragmentNode,
  isAbstractType,
  isCompositeType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from "graphql";
import type { Arguments, FieldMapping } from "../fields/field-mapping.ts";
import { mappingOf } from "../fields/mapping-of.ts";
import type { Api } from "../schema/schema.ts";

/** A field of an operation. Nodes with the same response name are merged. */
export interface CollectedField {
  /** The alias of the field, or else its name. */
  readonly responseName: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly mapping: FieldMapping;
  readonly nodes: readonly FieldNode[];
  readonly arguments: Arguments;
  /** One for each object type that the value can have; none for scalars. */
  readonly selectionSets: readonly SelectionSet[];
}

/** The fields that are selected of an object type. */
export interface SelectionSet {
  readonly type: GraphQLObjectType;
  readonly fields: readonly CollectedField[];
}

export interface OperationInput {
  readonly api: Api;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
}

/** The root fields of a valid operation. @throws GraphQLError for a required argument whose variable has no value */
export function collectRootFields(input: OperationInput): readonly CollectedField[] {
  const { api, operation } = input;
  const root = api.schema.getRootType(operation.operation)!;
  return fieldsOf(input, root, [operation.selectionSet]);
}

function fieldsOf(
  input: OperationInput,
  type: GraphQLObjectType,
  nodes: readonly SelectionSetNode[],
): CollectedField[] {
  const nodesByName = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();
  for (const node of nodes) collectNodes(input, type, node, nodesByName, visitedFragments);
  return [...nodesByName].map(([responseName, fieldNodes]) =>
    collectedField(input, type, responseName, fieldNodes),
  );
}

function collectedField(
  input: OperationInput,
  parentType: GraphQLObjectType,
  responseName: string,
  nodes: readonly FieldNode[],
): CollectedField {
  const node = nodes[0]!;
  // The document is valid, so the field is defined.
  const definition = input.api.schema.getField(parentType, node.name.value)! as GraphQLField<
    unknown,
    unknown
  >;
  const mapping = mappingOf(definition);
  const args =
    node.arguments?.length || definition.args.length
      ? getArgumentValues(definition, node, input.variables)
      : noArguments;
  const types = possibleTypes(input, definition, mapping, args);
  const setNodes = types.length > 0 ? nodes.flatMap(({ selectionSet }) => selectionSet ?? []) : [];
  const selectionSets = types.map((type) => ({ type, fields: fieldsOf(input, type, setNodes) }));
  return { responseName, parentType, definition, mapping, nodes, arguments: args, selectionSets };
}

const noArguments: Arguments = Object.freeze({});

/** The object types that the value of a field can have; none for scalars. */
function possibleTypes(
  { api }: OperationInput,
  definition: GraphQLField<unknown, unknown>,
  mapping: FieldMapping,
  args: Arguments,
): readonly GraphQLObjectType[] {
  const type = getNamedType(definition.type);
  if (!isCompositeType(type)) return [];
  if (!isAbstractType(type)) return [type];
  return mapping.possibleTypes?.(args) ?? api.schema.getPossibleTypes(type);
}

function collectNodes(
  input: OperationInput,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  nodesByName: Map<string, FieldNode[]>,
  visitedFragments: Set<string>,
): void {
  for (const selection of selections) {
    if (!isIncluded(selection, input.variables)) continue;
    if (selection.kind === "Field") {
      const name = selection.alias?.value ?? selection.name.value;
      const nodes = nodesByName.get(name);
      if (nodes) nodes.push(selection);
      else nodesByName.set(name, [selection]);
      continue;
    }
    const fragment = fragmentOf(input, selection, visitedFragments);
    if (fragment && fragmentApplies(input, type, fragment.typeCondition?.name.value))
      collectNodes(input, type, fragment.selectionSet, nodesByName, visitedFragments);
  }
}

/** The fragment; undefined if it has been expanded in the same selection set. */
function fragmentOf(
  { fragments }: OperationInput,
  selection: FragmentSpreadNode | InlineFragmentNode,
  visitedFragments: Set<string>,
): InlineFragmentNode | FragmentDefinitionNode | undefined {
  if (selection.kind === "InlineFragment") return selection;
  const name = selection.name.value;
  if (visitedFragments.has(name)) return undefined;
  visitedFragments.add(name);
  return fragments.get(name);
}

function fragmentApplies(
  { api }: OperationInput,
  type: GraphQLObjectType,
  typeCondition: string | undefined,
): boolean {
  if (typeCondition === undefined || typeCondition === type.name) return true;
  const conditionType = api.schema.getType(typeCondition);
  return isAbstractType(conditionType) && api.schema.isSubType(conditionType, type);
}

function isIncluded(
  node: FieldNode | FragmentSpreadNode | InlineFragmentNode,
  variables: VariableValues,
): boolean {
  if (!node.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false;
}
