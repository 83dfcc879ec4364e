// A connection as text, around the rows as the database wrote them.

import type { CursorCodec } from "../../query/cursor.ts";
import { type Page, partSeparator, rowSeparator } from "../../query/page.ts";
import type { CursorPage, Position, Read, Selection } from "../../query/read.ts";
import { selectParts } from "../../query/selection.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import type { PageInfoField } from "../schema/field-mapping.ts";
import { rowSelection } from "./row-selection.ts";

/** What a connection is asked for. */
export interface ConnectionShape {
  readonly fields: readonly CollectedField[];
  readonly typeName: string;
  /** Each field for the row of an edge, by its place among the texts of the row. */
  readonly nodes: ReadonlyMap<CollectedField, number>;
  /** One part for each of them. */
  readonly rows: Selection;
  readonly hasCursors: boolean;
}

export function connectionShape({ subselections }: CollectedField): ConnectionShape {
  const { type, fields } = subselections[0]!;
  const edgeFields = fields
    .filter(({ mapping }) => mapping?.kind === "edges")
    .flatMap((edges) => edges.subselections[0]!.fields);
  const nodes = edgeFields.filter(({ mapping }) => mapping?.kind === "edgeNode");
  return {
    fields,
    typeName: type.name,
    nodes: new Map(nodes.map((node, index) => [node, index])),
    rows: selectParts(nodes.map((node) => rowSelection(node.subselections[0]!))),
    hasCursors: edgeFields.some(({ mapping }) => mapping?.kind === "edgeCursor"),
  };
}

/** A page that was read, and what its cursors are made of. */
export interface PageResult {
  readonly page: Page;
  readonly read: Read;
  readonly requested: CursorPage;
  readonly key: string;
  readonly cursors: CursorCodec;
}

export function connectionText(shape: ConnectionShape, result: PageResult): string {
  const members = shape.fields.map((selected) => {
    if (selected.mapping?.kind === "edges") return memberText(selected, edgesText(selected, shape, result));
    if (selected.mapping?.kind === "pageInfo") return memberText(selected, pageInfoText(selected, result));
    return memberText(selected, `"${shape.typeName}"`);
  });
  return `{${members.join(",")}}`;
}

/** Names of GraphQL need no escaping. */
export function memberText({ responseName }: Pick<CollectedField, "responseName">, value: string): string {
  return `"${responseName}":${value}`;
}

function edgesText(
  { subselections }: CollectedField,
  { nodes }: ConnectionShape,
  result: PageResult,
): string {
  const { page } = result;
  if (page.count === 0) return "[]";
  const { type, fields } = subselections[0]!;
  const rows = page.rows.slice(1, -1).split(rowSeparator);
  const edges = rows.map((row, index) => {
    const parts = nodes.size > 1 ? row.split(partSeparator) : [row];
    const members = fields.map((selected) => {
      if (selected.mapping?.kind === "edgeNode") return memberText(selected, parts[nodes.get(selected)!]!);
      if (selected.mapping?.kind === "edgeCursor")
        return memberText(selected, `"${cursorAt(result, page.positions![index])}"`);
      return memberText(selected, `"${type.name}"`);
    });
    return `{${members.join(",")}}`;
  });
  return `[${edges.join(",")}]`;
}

function pageInfoText({ subselections }: CollectedField, result: PageResult): string {
  const { type, fields } = subselections[0]!;
  const members = fields.map((selected) => {
    const { mapping } = selected;
    if (mapping?.kind !== "pageFact") return memberText(selected, `"${type.name}"`);
    return memberText(selected, JSON.stringify(pageInfoValue(mapping.fact, result)));
  });
  return `{${members.join(",")}}`;
}

/** Against the direction of reading, there are rows where the page begins at a cursor: those that it came from. */
export function pageInfoValue(fact: PageInfoField, result: PageResult): boolean | string | null {
  const { page, requested } = result;
  const isAfterCursor = requested.position !== undefined;
  switch (fact) {
    case "hasNextPage":
      return requested.isBackward ? isAfterCursor : page.hasMore;
    case "hasPreviousPage":
      return requested.isBackward ? page.hasMore : isAfterCursor;
    case "startCursor":
      return page.first ? cursorAt(result, page.first) : null;
    case "endCursor":
      return page.last ? cursorAt(result, page.last) : null;
  }
}

export function cursorAt({ cursors, key, read }: PageResult, position: Position | undefined): string {
  // Each row of the page has its place.
  return cursors.encode(key, read.sort, position!);
}
