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
import { type Meaning, meaningOf } from "./meaning.ts";
import { resourceOfId } from "./resource-of-id.ts";
import type { Api } from "./schema.ts";

/** A field as it stands in the answer. */
export interface Selected {
  /** Its alias, or its name. */
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** Undefined for fields of introspection. */
  readonly meaning: Meaning | undefined;
  /** Where it stands in the document. */
  readonly nodes: readonly FieldNode[];
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What is asked for of each type that its value may have. */
  readonly inside: readonly Inside[];
}

export interface Inside {
  readonly type: GraphQLObjectType;
  readonly fields: readonly Selected[];
}

export interface OperationInput {
  readonly api: Api;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
}

/** The root fields of a validated operation. @throws GraphQLError for an argument that its variable leaves without a value */
export function selectedFields(input: OperationInput): readonly Selected[] {
  const { api, operation } = input;
  const root = api.schema.getRootType(operation.operation)!;
  return fieldsOf(input, root, [operation.selectionSet]);
}

/** The fields of one type of object, merged by the name that they have in the answer. */
function fieldsOf(
  input: OperationInput,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Selected[] {
  const nodesByName = new Map<string, FieldNode[]>();
  const opened = new Set<string>();
  for (const set of sets) gather(input, type, set, nodesByName, opened);
  return [...nodesByName].map(([name, nodes]) => selectedField(input, type, name, nodes));
}

function selectedField(
  input: OperationInput,
  parent: GraphQLObjectType,
  name: string,
  nodes: readonly FieldNode[],
): Selected {
  const node = nodes[0]!;
  // The document is valid: the field is there.
  const field = input.api.schema.getField(parent, node.name.value)! as GraphQLField<unknown, unknown>;
  const given =
    node.arguments?.length || field.args.length ? getArgumentValues(field, node, input.variables) : none;
  const found = { name, field, meaning: meaningOf(field), nodes, arguments: given };
  return { ...found, inside: insideOf(input, found) };
}

const none = Object.freeze({});

function insideOf(input: OperationInput, selected: Omit<Selected, "inside">): Inside[] {
  const type = getNamedType(selected.field.type);
  if (!isCompositeType(type)) return [];
  const sets = selected.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const types = isAbstractType(type) ? possibleTypes(input, type, selected) : [type];
  return types.map((each) => ({ type: each, fields: fieldsOf(input, each, sets) }));
}

/** The id of a node tells of which type it is. */
function possibleTypes(
  { api }: OperationInput,
  type: GraphQLAbstractType,
  { meaning, arguments: given }: Omit<Selected, "inside">,
): readonly GraphQLObjectType[] {
  if (meaning?.kind !== "node") return api.schema.getPossibleTypes(type);
  const resource = resourceOfId(api, String(given.id));
  return resource ? [api.typeOf.get(resource)!] : [];
}

function gather(
  input: OperationInput,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  found: Map<string, FieldNode[]>,
  opened: Set<string>,
): void {
  for (const selection of selections) {
    if (!isIncluded(selection, input.variables)) continue;
    if (selection.kind === "Field") {
      const name = selection.alias?.value ?? selection.name.value;
      const nodes = found.get(name);
      if (nodes) nodes.push(selection);
      else found.set(name, [selection]);
      continue;
    }
    const fragment = fragmentOf(input, selection, opened);
    if (fragment && applies(input, type, fragment.typeCondition?.name.value))
      gather(input, type, fragment.selectionSet, found, opened);
  }
}

/** The fragment, or undefined for one that was opened in the same place before. */
function fragmentOf(
  { fragments }: OperationInput,
  selection: FragmentSpreadNode | InlineFragmentNode,
  opened: Set<string>,
): InlineFragmentNode | FragmentDefinitionNode | undefined {
  if (selection.kind === "InlineFragment") return selection;
  const name = selection.name.value;
  if (opened.has(name)) return undefined;
  opened.add(name);
  return fragments.get(name);
}

function applies({ api }: OperationInput, type: GraphQLObjectType, condition: string | undefined): boolean {
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
