// A connection as text, around the rows as the database wrote them.

import type { Page } from "../../engine/page.ts";
import { partSeparator, rowSeparator } from "../../query/page.ts";
import type { Selection } from "../../query/read.ts";
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

export function connectionText(shape: ConnectionShape, page: Page): string {
  const members = shape.fields.map((selected) => {
    if (selected.mapping?.kind === "edges") return memberText(selected, edgesText(selected, shape, page));
    if (selected.mapping?.kind === "pageInfo") return memberText(selected, pageInfoText(selected, page));
    return memberText(selected, `"${shape.typeName}"`);
  });
  return `{${members.join(",")}}`;
}

/** Names of GraphQL need no escaping. */
export function memberText({ responseName }: Pick<CollectedField, "responseName">, value: string): string {
  return `"${responseName}":${value}`;
}

function edgesText({ subselections }: CollectedField, { nodes }: ConnectionShape, page: Page): string {
  if (page.count === 0) return "[]";
  const { type, fields } = subselections[0]!;
  const rows = page.rows.slice(1, -1).split(rowSeparator);
  const edges = rows.map((row, index) => {
    const parts = nodes.size > 1 ? row.split(partSeparator) : [row];
    const members = fields.map((selected) => {
      if (selected.mapping?.kind === "edgeNode") return memberText(selected, parts[nodes.get(selected)!]!);
      if (selected.mapping?.kind === "edgeCursor") return memberText(selected, `"${page.cursorAt(index)}"`);
      return memberText(selected, `"${type.name}"`);
    });
    return `{${members.join(",")}}`;
  });
  return `[${edges.join(",")}]`;
}

function pageInfoText({ subselections }: CollectedField, page: Page): string {
  const { type, fields } = subselections[0]!;
  const members = fields.map((selected) => {
    const { mapping } = selected;
    if (mapping?.kind !== "pageFact") return memberText(selected, `"${type.name}"`);
    return memberText(selected, JSON.stringify(pageInfoValue(mapping.fact, page)));
  });
  return `{${members.join(",")}}`;
}

export function pageInfoValue(fact: PageInfoField, page: Page): boolean | string | null {
  switch (fact) {
    case "hasNextPage":
      return page.hasNext;
    case "hasPreviousPage":
      return page.hasPrevious;
    case "startCursor":
      return page.startCursor ?? null;
    case "endCursor":
      return page.endCursor ?? null;
  }
}
