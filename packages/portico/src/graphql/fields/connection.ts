// Connections (Relay's Cursor Connections Specification): `postsConnection`, and the types of its pages.

import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from "graphql";
import type { ResourceModel } from "../../model/model.ts";
import { AnswerTooLarge } from "../../query/answer-size.ts";
import { showFiles } from "../../query/shown-files.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { listOf } from "../schema/shared-types.ts";
import {
  type ConnectionPart,
  connectionShape,
  connectionText,
  type PageInfoField,
  pageInfoFields,
  pageOfRows,
} from "./connection-text.ts";
import { requestedRows, selectionFrom } from "./deleted-rows.ts";
import { type FieldMapping, type FieldRunner, objectMapping, rowMapping } from "./field-mapping.ts";
import { connectionLimit, connectionRequest } from "./list-arguments.ts";
import { withMapping } from "./mapping-of.ts";
import type { ResourceFieldKind } from "./root-field.ts";

export const connection: ResourceFieldKind = ({ resource, connection: type, pageArguments }) => {
  if (!resource.operations.has("list")) return [];
  return [
    {
      name: `${resource.plural}Connection`,
      deprecated: resource.deprecatedOperations.list,
      type: new GraphQLNonNull(type),
      args: pageArguments,
      description: "A page of rows. A cursor is valid only for the list it came from.",
      mapping: {
        ...objectMapping,
        maxItems: connectionLimit,
        // A page without `edges` reads rows as well.
        cost: (rows, args) => connectionLimit(args) * Math.max(1, rows),
        access: (args) => requestedRows(resource, args).access.list,
        compile: (field) => compileConnection(resource, field),
      },
    },
  ];
};

function compileConnection(resource: ResourceModel, field: CollectedField): FieldRunner {
  const shape = connectionShape(field);
  return async ({ engine, caller, fileUrl }) => {
    const list = connectionRequest(resource, field.arguments, shape.rows, shape.hasCursors);
    const rows = requestedRows(resource, field.arguments);
    const selection = selectionFrom(rows, list.selection);
    const page = await engine.list(caller, { ...list, resource: rows, selection });
    if (page.isCut) throw new AnswerTooLarge("limit");
    const text = showFiles(selection, page.rows, fileUrl);
    return connectionText(shape.fields, pageOfRows(shape, page, text));
  };
}

const pageInfo = new GraphQLObjectType({
  name: "PageInfo",
  fields: Object.fromEntries(
    pageInfoFields.map((name): [PageInfoField, GraphQLFieldConfig<unknown, unknown>] => {
      const type = name.startsWith("has") ? new GraphQLNonNull(GraphQLBoolean) : GraphQLString;
      return [name, { type, ...part(name) }];
    }),
  ),
});

/** `PostConnection` */
export function connectionType(row: GraphQLObjectType): GraphQLObjectType {
  const edge = new GraphQLObjectType({
    name: `${row.name}Edge`,
    fields: {
      node: { type: new GraphQLNonNull(row), ...part("node", rowMapping) },
      cursor: { type: new GraphQLNonNull(GraphQLString), ...part("cursor") },
    },
  });
  return new GraphQLObjectType({
    name: `${row.name}Connection`,
    fields: {
      edges: { type: listOf(edge), ...part("edges") },
      pageInfo: { type: new GraphQLNonNull(pageInfo), ...part("pageInfo") },
    },
  });
}

function part(name: ConnectionPart, mapping: FieldMapping = objectMapping) {
  return withMapping({ ...mapping, part: name });
}
