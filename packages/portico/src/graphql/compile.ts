// Root fields become plans: one statement each, whose text is the value of the field in the answer.

import { GraphQLNonNull } from "graphql";
import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../declare/model.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import { AnswerTooLarge } from "../plan/answer-size.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import { isId } from "../plan/id.ts";
import type { Read } from "../plan/read.ts";
import { connectionShape, connectionText } from "./connection-text.ts";
import { isIntrospection } from "./introspection.ts";
import { limitOf, newestFirst, parentConditions, placedPage, planPage } from "./list-arguments.ts";
import { resourceOfId } from "./resource-of-id.ts";
import { rowSelection } from "./row-selection.ts";
import type { Api } from "./schema.ts";
import { search } from "./search.ts";
import type { Selected } from "./selected.ts";
import { isWrite, type WriteMeaning, write } from "./write.ts";

/** What an operation runs with. */
export interface RunContext {
  readonly engine: Engine;
  readonly cursors: CursorCodec;
  readonly caller: Caller;
  /** Takes what only the answer to a write shows. */
  readonly reveal: (name: string, members: Readonly<Record<string, unknown>>) => void;
  /** What was found out for the fields of introspection before. */
  readonly introspected: ReadonlyMap<Selected, string>;
}

/** A root field that is ready to run, for any caller. */
export interface CompiledField {
  readonly selected: Selected;
  readonly isNonNull: boolean;
  /** JSON text of its value. */
  run(context: RunContext): Promise<string>;
}

export function compileFields(
  api: Api,
  rootName: string,
  fields: readonly Selected[],
): readonly CompiledField[] {
  return fields.map((selected) => ({
    selected,
    isNonNull: selected.field.type instanceof GraphQLNonNull,
    run: runOf(api, rootName, selected),
  }));
}

function runOf(api: Api, rootName: string, selected: Selected): CompiledField["run"] {
  const { meaning } = selected;
  if (isWrite(meaning)) return writeRun(meaning, selected);
  switch (meaning?.kind) {
    case "one":
      return rowRun(api, meaning.resource, selected);
    case "first":
      return firstRun(meaning.resource, selected);
    case "page":
      return pageRun(meaning.resource, selected);
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
function insideOf(api: Api, selected: Selected, resource: ResourceModel): Selected["inside"][number] {
  return selected.inside.find(({ type }) => api.resourceOf.get(type) === resource)!;
}

function rowRun(api: Api, resource: ResourceModel, selected: Selected): CompiledField["run"] {
  const read = {
    resource,
    selection: rowSelection(insideOf(api, selected, resource)),
    id: String(selected.arguments.id),
    conditions: [],
  };
  if (!isId(read.id)) return async () => "null";
  return ({ engine, caller }) => orNull(engine.get(caller, read));
}

/** A row that is not there is null, and no error. */
export async function orNull(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return "null";
    throw error;
  }
}

function firstRun(resource: ResourceModel, { inside, arguments: given }: Selected): CompiledField["run"] {
  const read: Read = {
    resource,
    selection: rowSelection(inside[0]!),
    conditions: parentConditions(resource, given),
    words: [],
    sort: newestFirst(resource),
    page: { style: "first", limit: limitOf(given.limit) },
  };
  return async ({ engine, caller }) => (await engine.list(caller, read)).rows;
}

function pageRun(resource: ResourceModel, selected: Selected): CompiledField["run"] {
  const shape = connectionShape(selected);
  return async ({ engine, caller, cursors }) => {
    const planned = planPage(resource, selected.arguments, shape.rows, shape.hasCursors);
    const { read, page: asked, key } = placedPage(planned, caller.tenantId, cursors);
    const page = await engine.list(caller, read);
    if (page.isCut) throw new AnswerTooLarge("limit");
    return connectionText(shape, { page, read, asked, key, cursors });
  };
}

function searchRun(api: Api, selected: Selected): CompiledField["run"] {
  const { q, limit } = selected.arguments;
  const all = api.searched.map((resource) => {
    return { resource, selection: rowSelection(insideOf(api, selected, resource)) };
  });
  return async ({ engine, caller }) => {
    const found = await search(engine, caller, all, String(q), limitOf(limit));
    return `[${found.map(({ text }) => text).join(",")}]`;
  };
}

function writeRun(meaning: WriteMeaning, selected: Selected): CompiledField["run"] {
  const selection = rowSelection(selected.inside[0]!);
  return async ({ engine, caller, reveal }) => {
    const { text, revealed } = await write(engine, caller, meaning, selected.arguments, selection);
    if (revealed && Object.keys(revealed).length > 0) reveal(selected.name, revealed);
    return text;
  };
}
