// A connection as text, around the rows as the database wrote them.

import type { CursorCodec } from "../plan/cursor.ts";
import { type Page, partSeparator, rowSeparator } from "../plan/page.ts";
import type { CursorPage, Position, Read, Selection } from "../plan/read.ts";
import { selectParts } from "../plan/selection.ts";
import type { PageFact } from "./meaning.ts";
import { rowSelection } from "./row-selection.ts";
import type { Selected } from "./selected.ts";

/** What a connection is asked for. */
export interface ConnectionShape {
  readonly fields: readonly Selected[];
  readonly typeName: string;
  /** Each field for the row of an edge, by its place among the texts of the row. */
  readonly nodes: ReadonlyMap<Selected, number>;
  /** One part for each of them. */
  readonly rows: Selection;
  readonly hasCursors: boolean;
}

export function connectionShape({ inside }: Selected): ConnectionShape {
  const { type, fields } = inside[0]!;
  const edgeFields = fields
    .filter(({ meaning }) => meaning?.kind === "edges")
    .flatMap((edges) => edges.inside[0]!.fields);
  const nodes = edgeFields.filter(({ meaning }) => meaning?.kind === "edgeNode");
  return {
    fields,
    typeName: type.name,
    nodes: new Map(nodes.map((node, place) => [node, place])),
    rows: selectParts(nodes.map((node) => rowSelection(node.inside[0]!))),
    hasCursors: edgeFields.some(({ meaning }) => meaning?.kind === "edgeCursor"),
  };
}

/** A page that was read, and what its cursors are made of. */
export interface ReadPage {
  readonly page: Page;
  readonly read: Read;
  readonly asked: CursorPage;
  readonly key: string;
  readonly cursors: CursorCodec;
}

export function connectionText(shape: ConnectionShape, found: ReadPage): string {
  const members = shape.fields.map((selected) => {
    if (selected.meaning?.kind === "edges") return memberText(selected, edgesText(selected, shape, found));
    if (selected.meaning?.kind === "pageInfo") return memberText(selected, pageInfoText(selected, found));
    return memberText(selected, `"${shape.typeName}"`);
  });
  return `{${members.join(",")}}`;
}

/** Names of GraphQL need no escaping. */
export function memberText({ name }: Pick<Selected, "name">, value: string): string {
  return `"${name}":${value}`;
}

function edgesText({ inside }: Selected, { nodes }: ConnectionShape, found: ReadPage): string {
  const { page } = found;
  if (page.count === 0) return "[]";
  const { type, fields } = inside[0]!;
  const rows = page.rows.slice(1, -1).split(rowSeparator);
  const edges = rows.map((row, index) => {
    const parts = nodes.size > 1 ? row.split(partSeparator) : [row];
    const members = fields.map((selected) => {
      if (selected.meaning?.kind === "edgeNode") return memberText(selected, parts[nodes.get(selected)!]!);
      if (selected.meaning?.kind === "edgeCursor")
        return memberText(selected, `"${tokenAt(found, page.places![index])}"`);
      return memberText(selected, `"${type.name}"`);
    });
    return `{${members.join(",")}}`;
  });
  return `[${edges.join(",")}]`;
}

function pageInfoText({ inside }: Selected, found: ReadPage): string {
  const { type, fields } = inside[0]!;
  const members = fields.map((selected) => {
    const { meaning } = selected;
    if (meaning?.kind !== "pageFact") return memberText(selected, `"${type.name}"`);
    return memberText(selected, JSON.stringify(pageFact(meaning.fact, found)));
  });
  return `{${members.join(",")}}`;
}

/** Against the direction of reading, there are rows where the page begins at a cursor: those that it came from. */
export function pageFact(fact: PageFact, found: ReadPage): boolean | string | null {
  const { page, asked } = found;
  const isBehindCursor = asked.position !== undefined;
  switch (fact) {
    case "hasNextPage":
      return asked.isBackward ? isBehindCursor : page.hasMore;
    case "hasPreviousPage":
      return asked.isBackward ? page.hasMore : isBehindCursor;
    case "startCursor":
      return page.first ? tokenAt(found, page.first) : null;
    case "endCursor":
      return page.last ? tokenAt(found, page.last) : null;
  }
}

export function tokenAt({ cursors, key, read }: ReadPage, position: Position | undefined): string {
  // Each row of the page has its place.
  return cursors.encode(key, read.sort, position!);
}
