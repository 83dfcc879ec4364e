// Root fields become plans: one statement each, whose text is the value of the field in the answer.

import { GraphQLNonNull } from "graphql";
import type { Caller } from "../../declare/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { orNull } from "../../engine/or-null.ts";
import { isId } from "../../lib/id.ts";
import type { ResourceModel } from "../../model/model.ts";
import { AnswerTooLarge } from "../../query/answer-size.ts";
import type { ListRequest } from "../../query/read.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { isIntrospection } from "../execute/introspection.ts";
import { search } from "../execute/search.ts";
import { isWrite, type WriteFieldMapping, write } from "../execute/write.ts";
import { clampLimit, connectionRequest, newestFirst, parentContainer } from "../schema/list-arguments.ts";
import type { Api } from "../schema/schema.ts";
import { connectionShape, connectionText } from "./connection-text.ts";
import { resourceOfId } from "./resource-of-id.ts";
import { rowSelection } from "./row-selection.ts";

/** What an operation runs with. */
export interface RunContext {
  readonly engine: Engine;
  readonly caller: Caller;
  /** Takes what only the answer to a write shows. */
  readonly addReturnedOnce: (name: string, members: Readonly<Record<string, unknown>>) => void;
  /** What was found out for the fields of introspection before. */
  readonly introspected: ReadonlyMap<CollectedField, string>;
}

/** A root field that is ready to run, for any caller. */
export interface CompiledField {
  readonly selected: CollectedField;
  readonly isNonNull: boolean;
  /** JSON text of its value. */
  run(context: RunContext): Promise<string>;
}

export function compileFields(
  api: Api,
  rootName: string,
  fields: readonly CollectedField[],
): readonly CompiledField[] {
  return fields.map((selected) => ({
    selected,
    isNonNull: selected.definition.type instanceof GraphQLNonNull,
    run: compileRun(api, rootName, selected),
  }));
}

function compileRun(api: Api, rootName: string, selected: CollectedField): CompiledField["run"] {
  const { mapping } = selected;
  if (isWrite(mapping)) return writeRun(mapping, selected);
  switch (mapping?.kind) {
    case "one":
      return rowRun(api, mapping.resource, selected);
    case "first":
      return firstRun(mapping.resource, selected);
    case "page":
      return pageRun(mapping.resource, selected);
    case "node": {
      const resource = resourceOfId(api, String(selected.arguments.id));
      return resource ? rowRun(api, resource, selected) : async () => "null";
    }
    case "search":
      return searchRun(api, selected);
    case "event":
      // Its events are run each for itself.
      return async () => "null";
    default: {
      if (isIntrospection(selected)) return async ({ introspected }) => introspected.get(selected)!;
      const text = `"${rootName}"`;
      return async () => text;
    }
  }
}

/** What is selected of the type that a resource has. */
function subselectionOf(
  api: Api,
  selected: CollectedField,
  resource: ResourceModel,
): CollectedField["subselections"][number] {
  return selected.subselections.find(({ type }) => api.resourceOf.get(type) === resource)!;
}

function rowRun(api: Api, resource: ResourceModel, selected: CollectedField): CompiledField["run"] {
  const read = {
    resource,
    selection: rowSelection(subselectionOf(api, selected, resource)),
    id: String(selected.arguments.id),
    conditions: [],
  };
  if (!isId(read.id)) return async () => "null";
  return ({ engine, caller }) => orNull(engine.get(caller, read));
}

function firstRun(
  resource: ResourceModel,
  { subselections, arguments: args }: CollectedField,
): CompiledField["run"] {
  const list: ListRequest = {
    resource,
    within: parentContainer(resource, args),
    selection: rowSelection(subselections[0]!),
    conditions: [],
    words: [],
    sort: newestFirst(resource),
    page: { style: "first", limit: clampLimit(args.limit) },
  };
  return async ({ engine, caller }) => (await engine.list(caller, list)).rows;
}

function pageRun(resource: ResourceModel, selected: CollectedField): CompiledField["run"] {
  const shape = connectionShape(selected);
  return async ({ engine, caller }) => {
    const list = connectionRequest(resource, selected.arguments, shape.rows, shape.hasCursors);
    const page = await engine.list(caller, list);
    if (page.isCut) throw new AnswerTooLarge("limit");
    return connectionText(shape, page);
  };
}

function searchRun(api: Api, selected: CollectedField): CompiledField["run"] {
  const { q, limit } = selected.arguments;
  const all = api.searched.map((resource) => {
    return { resource, selection: rowSelection(subselectionOf(api, selected, resource)) };
  });
  return async ({ engine, caller }) => {
    const results = await search(engine, caller, all, String(q), clampLimit(limit));
    return `[${results.map(({ text }) => text).join(",")}]`;
  };
}

function writeRun(mapping: WriteFieldMapping, selected: CollectedField): CompiledField["run"] {
  const selection = rowSelection(selected.subselections[0]!);
  return async ({ engine, caller, addReturnedOnce }) => {
    const { text, returnedOnce } = await write(engine, caller, mapping, selected.arguments, selection);
    if (returnedOnce && Object.keys(returnedOnce).length > 0)
      addReturnedOnce(selected.responseName, returnedOnce);
    return text;
  };
}
