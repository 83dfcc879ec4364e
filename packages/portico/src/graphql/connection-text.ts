// A connection as text, around the rows as the database wrote them.

import type { CursorCodec } from "../plan/cursor.ts";
import { type Page, rowSeparator } from "../plan/page.ts";
import type { CursorPage, Position, Read, Selection } from "../plan/read.ts";
import { selectMembers } from "../plan/selection.ts";
import type { PageFact } from "./meaning.ts";
import { requireTypename, rowSelection, Uncompiled } from "./row-selection.ts";
import type { Selected } from "./selected.ts";

/** What a connection is asked for. */
export interface ConnectionShape {
  readonly fields: readonly Selected[];
  readonly typeName: string;
  readonly rows: Selection;
  readonly hasCursors: boolean;
}

/** @throws Uncompiled where the same rows are asked for in two ways */
export function connectionShape({ inside }: Selected): ConnectionShape {
  const { type, fields } = inside[0]!;
  const edgeFields = fields
    .filter(({ meaning }) => meaning?.kind === "edges")
    .flatMap((edges) => edges.inside[0]!.fields);
  const nodes = edgeFields.filter(({ meaning }) => meaning?.kind === "edgeNode");
  if (nodes.length > 1) throw new Uncompiled();
  return {
    fields,
    typeName: type.name,
    rows: nodes[0] ? rowSelection(nodes[0].inside[0]!) : selectMembers([]),
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

export function connectionText({ fields, typeName }: ConnectionShape, found: ReadPage): string {
  const members = fields.map((selected) => {
    if (selected.meaning?.kind === "edges") return memberText(selected, edgesText(selected, found));
    if (selected.meaning?.kind === "pageInfo") return memberText(selected, pageInfoText(selected, found));
    return memberText(selected, `"${requireTypename(selected, typeName)}"`);
  });
  return `{${members.join(",")}}`;
}

/** Names of GraphQL need no escaping. */
export function memberText({ name }: Pick<Selected, "name">, value: string): string {
  return `"${name}":${value}`;
}

function edgesText({ inside }: Selected, found: ReadPage): string {
  const { page } = found;
  if (page.count === 0) return "[]";
  const { type, fields } = inside[0]!;
  const rows = page.rows.slice(1, -1).split(rowSeparator);
  const edges = rows.map((row, index) => {
    const members = fields.map((selected) => {
      if (selected.meaning?.kind === "edgeNode") return memberText(selected, row);
      if (selected.meaning?.kind === "edgeCursor")
        return memberText(selected, `"${tokenAt(found, page.places![index])}"`);
      return memberText(selected, `"${requireTypename(selected, type.name)}"`);
    });
    return `{${members.join(",")}}`;
  });
  return `[${edges.join(",")}]`;
}

function pageInfoText({ inside }: Selected, found: ReadPage): string {
  const { type, fields } = inside[0]!;
  const members = fields.map((selected) => {
    const { meaning } = selected;
    if (meaning?.kind !== "pageFact")
      return memberText(selected, `"${requireTypename(selected, type.name)}"`);
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
