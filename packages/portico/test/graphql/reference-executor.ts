// The reference executor: graphql-js with a resolver that reads each row, list and page separately. It derives the meaning
// of a field from the names of the schema, not from the server's mappings. Tests compare the server's results with it.

import {
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLTypeResolver,
  type OperationDefinitionNode,
} from "graphql";
import type { Caller } from "../../src/declare/caller.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { orNull } from "../../src/engine/or-null.ts";
import type { Page } from "../../src/engine/page.ts";
import type { ParsedDocument } from "../../src/graphql/document/parsed-document.ts";
import { clampLimit, connectionRequest, parentContainer } from "../../src/graphql/fields/list-arguments.ts";
import { search } from "../../src/graphql/fields/search.ts";
import { inverseLists, pascalCase } from "../../src/graphql/schema/naming.ts";
import type { Api } from "../../src/graphql/schema/schema.ts";
import { isId } from "../../src/lib/id.ts";
import type { Attribute, ResourceModel } from "../../src/model/model.ts";
import type { Condition } from "../../src/query/condition.ts";
import { rowSeparator } from "../../src/query/page.ts";
import type { Container } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { newestFirst } from "../../src/query/sort.ts";

interface Row {
  readonly resource: ResourceModel;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface ReferenceContext {
  readonly api: Api;
  readonly engine: Engine;
  readonly caller: Caller;
}

export async function executeByReference(
  { document }: ParsedDocument,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  context: ReferenceContext,
): Promise<ExecutionResult> {
  return execute({
    schema: context.api.schema,
    document,
    operationName: operation.name?.value,
    variableValues: variables,
    contextValue: context,
    fieldResolver: resolve,
    typeResolver: typeOfRow,
  });
}

const typeOfRow: GraphQLTypeResolver<unknown, ReferenceContext> = (value) =>
  pascalCase((value as Row).resource.name);

type Arguments = Readonly<Record<string, unknown>>;

const resolve: GraphQLFieldResolver<unknown, ReferenceContext> = (source, args, context, info) => {
  const { parentType, fieldName } = info;
  if (parentType === info.schema.getQueryType()) return queryField(context, fieldName, args);
  if (parentType === info.schema.getMutationType()) return mutationField(context, fieldName, args);
  if (context.api.resourceOf.has(parentType)) return rowField(context, source as Row, fieldName, args);
  if (typesOfMe.has(parentType.name)) return (source as Readonly<Record<string, unknown>>)[fieldName];
  return connectionField(source, parentType, fieldName);
};

/** The types of `me`, whose fields are members of its result. */
const typesOfMe: ReadonlySet<string> = new Set(["Me", "MyTenant", "MyUser", "MyRateLimit"]);

function queryField(context: ReferenceContext, name: string, args: Arguments): unknown {
  const { api, engine, caller } = context;
  if (name === "node") return nodeById(context, String(args.id));
  if (name === "me") return engine.me(caller);
  if (name === "search") {
    const targets = api.searched.map((resource) => ({ resource, selection: wholeRow(resource) }));
    return search(engine, caller, targets, String(args.q), clampLimit(args.limit)).then((hits) =>
      hits.map(({ resource, text }) => rowOf(resource, text)),
    );
  }
  for (const resource of api.typeOf.keys()) {
    if (name === resource.name) return rowById(context, resource, String(args.id));
    if (name === resource.plural)
      return newestRows(context, resource, clampLimit(args.limit), [], parentContainer(resource, args));
    if (name === `${resource.plural}Connection`) return connectionPage(context, resource, args);
  }
  throw unknownField(name);
}

async function mutationField(context: ReferenceContext, name: string, args: Arguments): Promise<Row> {
  const { api, engine, caller } = context;
  const id = String(args.id);
  for (const [resource, { name: typeName }] of api.typeOf) {
    const selection = wholeRow(resource);
    const read = async (rowId: string): Promise<Row> =>
      rowOf(resource, await engine.getAfterWrite(caller, { resource, selection, id: rowId, conditions: [] }));
    const input = { ...(args.input as Arguments | undefined) };
    if (name === `create${typeName}`) {
      const { [resource.parent?.name ?? ""]: parentId, ...body } = input;
      const parent = parentId === undefined ? undefined : String(parentId);
      return read((await engine.create(caller, resource, body, parent)).id);
    }
    if (name === `update${typeName}`) return read((await engine.update(caller, resource, id, input)).id);
    if (name === `delete${typeName}`) {
      const before = await read(id);
      await engine.delete(caller, resource, id);
      return resource.markOnDelete ? read(id) : before;
    }
    for (const action of resource.actions.values())
      if (name === `${action.verb}${typeName}`)
        return read((await engine.runAction(caller, resource, id, action, input)).id);
  }
  throw unknownField(name);
}

function rowField(context: ReferenceContext, row: Row, name: string, args: Arguments): unknown {
  const { resource, values } = row;
  for (const attribute of resource.attributes) {
    if (attribute.isInternal) continue;
    if (name === attribute.name) return values[name];
    if (name === attribute.reference?.name) return referencedRow(context, row, attribute);
  }
  const list = inverseLists(context.engine.model, resource).find((each) => each.name === name);
  if (!list) throw unknownField(name);
  const condition: Condition = { attribute: list.reference, operator: "in", values: [String(values.id)] };
  return newestRows(context, list.resource, clampLimit(args.first), [condition]);
}

interface ResourcePage {
  readonly resource: ResourceModel;
  readonly page: Page;
}

function connectionField(source: unknown, { name: typeName }: GraphQLObjectType, name: string): unknown {
  if (typeName.endsWith("Edge")) return (source as Edge)[name as keyof Edge];
  const { page } = source as ResourcePage;
  switch (name) {
    case "edges":
      return edgesOf(source as ResourcePage);
    case "pageInfo":
      return source;
    case "hasNextPage":
      return page.hasNext;
    case "hasPreviousPage":
      return page.hasPrevious;
    case "startCursor":
      return page.startCursor ?? null;
    case "endCursor":
      return page.endCursor ?? null;
    default:
      throw unknownField(name);
  }
}

function unknownField(name: string): GraphQLError {
  return new GraphQLError(`The reference executor does not know ${name}.`);
}

function rowOf(resource: ResourceModel, text: string): Row {
  return { resource, values: JSON.parse(text) };
}

async function nodeById(context: ReferenceContext, id: string): Promise<Row | null> {
  for (const resource of context.api.typeOf.keys())
    if (resource.operations.has("get") && id.startsWith(`${resource.idPrefix}_`))
      return rowById(context, resource, id);
  return null;
}

/** Null for a row that does not exist, or that a policy hides. */
async function rowById(
  { engine, caller }: ReferenceContext,
  resource: ResourceModel,
  id: string,
): Promise<Row | null> {
  if (!isId(id)) return null;
  const read = { resource, selection: wholeRow(resource), id, conditions: [] };
  const text = await orNull(engine.get(caller, read));
  return text === "null" ? null : rowOf(resource, text);
}

function referencedRow(
  context: ReferenceContext,
  row: Row,
  { name, reference }: Attribute,
): Promise<Row | null> | null {
  const id = row.values[name];
  return typeof id === "string" ? rowById(context, reference!.target, id) : null;
}

async function newestRows(
  { engine, caller }: ReferenceContext,
  resource: ResourceModel,
  limit: number,
  conditions: readonly Condition[],
  within?: Container,
): Promise<Row[]> {
  const page = await engine.list(caller, {
    resource,
    within,
    selection: wholeRow(resource),
    conditions,
    words: [],
    sort: newestFirst(resource),
    page: { style: "first", limit },
  });
  return (JSON.parse(page.rows) as Row["values"][]).map((values) => ({ resource, values }));
}

async function connectionPage(
  { engine, caller }: ReferenceContext,
  resource: ResourceModel,
  args: Arguments,
): Promise<ResourcePage> {
  const list = connectionRequest(resource, args, wholeRow(resource), true);
  return { resource, page: await engine.list(caller, list) };
}

interface Edge {
  readonly node: Row;
  readonly cursor: string;
}

function edgesOf({ resource, page }: ResourcePage): Edge[] {
  if (page.count === 0) return [];
  const texts = page.rows.slice(1, -1).split(rowSeparator);
  return texts.map((text, index) => ({ node: rowOf(resource, text), cursor: page.cursorAt(index) }));
}
