// Root fields that read rows: `post(id)`, `node(id)` and `posts(limit)`.

import { GraphQLInt, type GraphQLObjectType } from "graphql";
import { orNull } from "../../engine/or-null.ts";
import { isId } from "../../lib/id.ts";
import type { ResourceModel } from "../../model/model.ts";
import type { ListRequest } from "../../query/read.ts";
import { showFiles } from "../../query/shown-files.ts";
import { newestFirst } from "../../query/sort.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { defaultListLimit } from "../schema/naming.ts";
import { listOf, nodeInterface, requiredId } from "../schema/shared-types.ts";
import { deletedArgument, requestedRows, selectionFrom } from "./deleted-rows.ts";
import { type FieldRunner, listMapping, rowMapping } from "./field-mapping.ts";
import { clampLimit, parentArgument, parentContainer } from "./list-arguments.ts";
import { resourceOfId } from "./resource-of-id.ts";
import type { ResourceFieldKind, SharedFieldKind } from "./root-field.ts";
import { rowSelection, selectionOf } from "./row-members.ts";

/** `post(id)`: one row. */
export const rowById: ResourceFieldKind = ({ resource, row }) => {
  if (!resource.operations.has("get")) return [];
  return [
    {
      name: resource.name,
      deprecated: resource.deprecatedOperations.get,
      type: row,
      args: { id: { type: requiredId }, ...deletedArgument(resource) },
      description: `The ${resource.title} with this id, or null.`,
      mapping: {
        ...rowMapping,
        access: (args) => requestedRows(resource, args).access.get,
        compile: (field) => compileRow(requestedRows(resource, field.arguments), row, field),
      },
    },
  ];
};

/** `node(id)`: a row of any resource. The prefix of the id determines which. */
export const nodeById: SharedFieldKind = ({ rows }) => {
  const find = (id: unknown): ResourceModel | undefined => resourceOfId(rows.keys(), String(id));
  return [
    {
      name: "node",
      type: nodeInterface,
      args: { id: { type: requiredId } },
      description: "The object with this id, or null.",
      mapping: {
        ...rowMapping,
        access: ({ id }) => find(id)?.access.get,
        possibleTypes: ({ id }) => {
          const resource = find(id);
          return resource ? [rows.get(resource)!] : [];
        },
        compile: (field) => {
          const resource = find(field.arguments.id);
          return resource ? compileRow(resource, rows.get(resource)!, field) : async () => "null";
        },
      },
    },
  ];
};

function compileRow(resource: ResourceModel, row: GraphQLObjectType, field: CollectedField): FieldRunner {
  const selectionSet = field.selectionSets.find(({ type }) => type === row)!;
  const id = String(field.arguments.id);
  const selection = selectionFrom(resource, rowSelection(selectionSet));
  const read = { resource, selection, id, conditions: [] };
  if (!isId(id)) return async () => "null";
  return async ({ engine, caller, fileUrl }) =>
    showFiles(read.selection, await orNull(engine.get(caller, read)), fileUrl);
}

/** `posts(limit)`: the newest rows, without cursors. */
export const newestRows: ResourceFieldKind = ({ resource, row }) => {
  if (!resource.operations.has("list")) return [];
  return [
    {
      name: resource.plural,
      deprecated: resource.deprecatedOperations.list,
      type: listOf(row),
      args: {
        ...parentArgument(resource),
        limit: { type: GraphQLInt, default: { value: defaultListLimit } },
        ...deletedArgument(resource),
      },
      description: "The newest rows, 100 at most.",
      mapping: {
        ...listMapping(({ limit }) => clampLimit(limit)),
        access: (args) => requestedRows(resource, args).access.list,
        compile: (field) => compileNewest(requestedRows(resource, field.arguments), field),
      },
    },
  ];
};

function compileNewest(resource: ResourceModel, field: CollectedField): FieldRunner {
  const list: ListRequest = {
    resource,
    within: parentContainer(resource, field.arguments),
    selection: selectionFrom(resource, selectionOf(field)),
    conditions: [],
    words: [],
    sort: newestFirst(resource),
    page: { style: "first", limit: clampLimit(field.arguments.limit) },
  };
  return async ({ engine, caller, fileUrl }) =>
    showFiles(list.selection, (await engine.list(caller, list)).rows, fileUrl);
}
