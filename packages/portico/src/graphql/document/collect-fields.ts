// What an operation asks for: its fields with their arguments read, fragments opened, and `@skip` and `@include`
// followed (GraphQL, section 6.3.2).

import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLAbstractType,
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
import { resourceOfId } from "../compile/resource-of-id.ts";
import { type FieldMapping, mappingOf } from "../schema/field-mapping.ts";
import type { Api } from "../schema/schema.ts";

/** A field as it stands in the answer. */
export interface CollectedField {
  /** Its alias, or its name. */
  readonly responseName: string;
  readonly definition: GraphQLField<unknown, unknown>;
  /** Undefined for fields of introspection. */
  readonly mapping: FieldMapping | undefined;
  /** Where it stands in the document. */
  readonly nodes: readonly FieldNode[];
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What is asked for of each type that its value may have. */
  readonly subselections: readonly Subselection[];
}

export interface Subselection {
  readonly type: GraphQLObjectType;
  readonly fields: readonly CollectedField[];
}

export interface OperationInput {
  readonly api: Api;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
}

/** The root fields of a validated operation. @throws GraphQLError for an argument that its variable leaves without a value */
export function selectedFields(input: OperationInput): readonly CollectedField[] {
  const { api, operation } = input;
  const root = api.schema.getRootType(operation.operation)!;
  return fieldsOf(input, root, [operation.selectionSet]);
}

/** The fields of one type of object, merged by the name that they have in the answer. */
function fieldsOf(
  input: OperationInput,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): CollectedField[] {
  const nodesByName = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();
  for (const set of sets) collectFields(input, type, set, nodesByName, visitedFragments);
  return [...nodesByName].map(([name, nodes]) => selectedField(input, type, name, nodes));
}

function selectedField(
  input: OperationInput,
  parent: GraphQLObjectType,
  responseName: string,
  nodes: readonly FieldNode[],
): CollectedField {
  const node = nodes[0]!;
  // The document is valid, so the field is defined.
  const definition = input.api.schema.getField(parent, node.name.value)! as GraphQLField<unknown, unknown>;
  const args =
    node.arguments?.length || definition.args.length
      ? getArgumentValues(definition, node, input.variables)
      : none;
  const field = { responseName, definition, mapping: mappingOf(definition), nodes, arguments: args };
  return { ...field, subselections: subselectionsOf(input, field) };
}

const none = Object.freeze({});

function subselectionsOf(
  input: OperationInput,
  selected: Omit<CollectedField, "subselections">,
): Subselection[] {
  const type = getNamedType(selected.definition.type);
  if (!isCompositeType(type)) return [];
  const sets = selected.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const types = isAbstractType(type) ? possibleTypes(input, type, selected) : [type];
  return types.map((each) => ({ type: each, fields: fieldsOf(input, each, sets) }));
}

/** The id of a node tells of which type it is. */
function possibleTypes(
  { api }: OperationInput,
  type: GraphQLAbstractType,
  { mapping, arguments: args }: Omit<CollectedField, "subselections">,
): readonly GraphQLObjectType[] {
  if (mapping?.kind !== "node") return api.schema.getPossibleTypes(type);
  const resource = resourceOfId(api, String(args.id));
  return resource ? [api.typeOf.get(resource)!] : [];
}

function collectFields(
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
      collectFields(input, type, fragment.selectionSet, nodesByName, visitedFragments);
  }
}

/** The fragment, or undefined for one that was opened in the same place before. */
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
  condition: string | undefined,
): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = api.schema.getType(condition);
  return isAbstractType(named) && api.schema.isSubType(named, type);
}

function isIncluded(
  node: FieldNode | FragmentSpreadNode | InlineFragmentNode,
  variables: VariableValues,
): boolean {
  if (!node.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false;
}
