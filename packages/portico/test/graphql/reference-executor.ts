// The reference executor: graphql-js with a resolver that reads every row, list and page for itself. The server has no
// use for it; its compiled answers are held against those of this one.

import {
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLTypeResolver,
  type OperationDefinitionNode,
} from "graphql";
import { orNull } from "../../src/engine/or-null.ts";
import type { Page } from "../../src/engine/page.ts";
import type { RunContext } from "../../src/graphql/compile/compile.ts";
import { pageInfoValue } from "../../src/graphql/compile/connection-text.ts";
import { resourceOfId } from "../../src/graphql/compile/resource-of-id.ts";
import type { ParsedDocument } from "../../src/graphql/document/parsed-document.ts";
import { search } from "../../src/graphql/execute/search.ts";
import { isWrite, write } from "../../src/graphql/execute/write.ts";
import { mappingOf } from "../../src/graphql/schema/field-mapping.ts";
import {
  clampLimit,
  connectionRequest,
  newestFirst,
  parentContainer,
} from "../../src/graphql/schema/list-arguments.ts";
import { pascalCase } from "../../src/graphql/schema/naming.ts";
import type { Api } from "../../src/graphql/schema/schema.ts";
import { isId } from "../../src/lib/id.ts";
import type { Attribute, ResourceModel } from "../../src/model/model.ts";
import { rowSeparator } from "../../src/query/page.ts";
import type { Condition, Container } from "../../src/query/read.ts";
import { wholeRow } from "../../src/query/selection.ts";

/** A row on its way through the executor. */
interface Row {
  readonly resource: ResourceModel;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface ReferenceContext extends Omit<RunContext, "introspected"> {
  readonly api: Api;
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

const resolve: GraphQLFieldResolver<unknown, ReferenceContext> = (source, given, context, info) => {
  const field = info.parentType.getFields()[info.fieldName]!;
  const meaning = mappingOf(field);
  const { engine, caller, api } = context;
  if (isWrite(meaning)) return written(context, info.path.key, meaning, given);
  switch (meaning?.kind) {
    case "value":
      return (source as Row).values[meaning.attribute.name];
    case "row":
      return referred(context, source as Row, meaning.reference);
    case "list":
      return rows(
        context,
        meaning.resource,
        [below(meaning.reference, source as Row)],
        clampLimit(given.first),
      );
    case "one":
      return row(context, meaning.resource, String(given.id));
    case "first":
      return rows(
        context,
        meaning.resource,
        [],
        clampLimit(given.limit),
        parentContainer(meaning.resource, given),
      );
    case "node": {
      const resource = resourceOfId(api, String(given.id));
      return resource ? row(context, resource, String(given.id)) : null;
    }
    case "search": {
      const all = api.searched.map((resource) => ({ resource, selection: wholeRow(resource) }));
      return search(engine, caller, all, String(given.q), clampLimit(given.limit)).then((found) =>
        found.map(({ resource, text }) => rowOf(resource, text)),
      );
    }
    case "page": {
      const { resource } = meaning;
      const list = connectionRequest(resource, given, wholeRow(resource), true);
      return engine.list(caller, list).then((page): ResourcePage => ({ resource, page }));
    }
    case "edges":
      return edges(source as ResourcePage);
    case "edgeNode":
      return (source as Edge).node;
    case "edgeCursor":
      return (source as Edge).cursor;
    case "pageInfo":
      return source;
    case "pageFact":
      return pageInfoValue(meaning.fact, (source as ResourcePage).page);
    default:
      throw new GraphQLError(`${info.fieldName} cannot be resolved.`);
  }
};

function rowOf(resource: ResourceModel, text: string): Row {
  return { resource, values: JSON.parse(text) };
}

/** A row that is not there, or that a policy hides, is null. */
async function row(
  { engine, caller }: ReferenceContext,
  resource: ResourceModel,
  id: string,
): Promise<Row | null> {
  if (!isId(id)) return null;
  const read = { resource, selection: wholeRow(resource), id, conditions: [] };
  const text = await orNull(engine.get(caller, read));
  return text === "null" ? null : rowOf(resource, text);
}

function referred(
  context: ReferenceContext,
  source: Row,
  { name, reference }: Attribute,
): Promise<Row | null> | null {
  const id = source.values[name];
  return typeof id === "string" ? row(context, reference!.target, id) : null;
}

function below(attribute: Attribute, { values }: Row): Condition {
  return { attribute, operator: "in", values: [String(values.id)] };
}

async function rows(
  { engine, caller }: ReferenceContext,
  resource: ResourceModel,
  conditions: readonly Condition[],
  limit: number,
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

interface ResourcePage {
  readonly resource: ResourceModel;
  readonly page: Page;
}

interface Edge {
  readonly node: Row;
  readonly cursor: string;
}

function edges({ resource, page }: ResourcePage): Edge[] {
  if (page.count === 0) return [];
  const texts = page.rows.slice(1, -1).split(rowSeparator);
  return texts.map((text, index) => ({
    node: rowOf(resource, text),
    cursor: page.cursorAt(index),
  }));
}

async function written(
  { engine, caller, addReturnedOnce }: ReferenceContext,
  name: string | number,
  meaning: Parameters<typeof write>[2],
  given: Readonly<Record<string, unknown>>,
): Promise<Row> {
  const { text, returnedOnce } = await write(engine, caller, meaning, given, wholeRow(meaning.resource));
  if (returnedOnce && Object.keys(returnedOnce).length > 0) addReturnedOnce(String(name), returnedOnce);
  return rowOf(meaning.resource, text);
}
