// Writes a connection as JSON text around the rows that the database returned.

import type { Page } from "../../engine/page.ts";
import { partSeparator, rowSeparator } from "../../query/page.ts";
import type { Selection } from "../../query/read.ts";
import { selectParts } from "../../query/selection.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { typeNameText } from "./meta-fields.ts";
import { selectionOf } from "./row-members.ts";

export const pageInfoFields = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"] as const;
export type PageInfoField = (typeof pageInfoFields)[number];

/** The fields of the types of a connection. */
export type ConnectionPart = "edges" | "node" | "cursor" | "pageInfo" | PageInfoField;

/** The fields that an operation selects of a connection. */
export interface ConnectionShape {
  readonly fields: readonly CollectedField[];
  /** Each `node` field, with the index of its text in a row. */
  readonly nodes: ReadonlyMap<CollectedField, number>;
  /** The selection of a row: one part for each `node` field. */
  readonly rows: Selection;
  readonly hasCursors: boolean;
}

export function connectionShape({ selectionSets }: CollectedField): ConnectionShape {
  const { fields } = selectionSets[0]!;
  const edgeFields = fields
    .filter(({ mapping }) => mapping.part === "edges")
    .flatMap((edges) => edges.selectionSets[0]!.fields);
  const nodes = edgeFields.filter(({ mapping }) => mapping.part === "node");
  return {
    fields,
    nodes: new Map(nodes.map((node, index) => [node, index])),
    rows: selectParts(nodes.map(selectionOf)),
    hasCursors: edgeFields.some(({ mapping }) => mapping.part === "cursor"),
  };
}

/** A page of a connection. */
export interface ConnectionPage {
  readonly count: number;
  /** The text of a `node` field. @param index of an edge */
  nodeText(index: number, node: CollectedField): string;
  cursorAt(index: number): string;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  readonly startCursor: string | undefined;
  readonly endCursor: string | undefined;
}

/** A page of rows. @param text of the rows */
export function pageOfRows({ nodes }: ConnectionShape, page: Page, text: string): ConnectionPage {
  const rows = page.count === 0 ? [] : text.slice(1, -1).split(rowSeparator);
  const parts = nodes.size > 1 ? rows.map((row) => row.split(partSeparator)) : undefined;
  return {
    count: page.count,
    nodeText: (index, node) => (parts ? parts[index]![nodes.get(node)!]! : rows[index]!),
    cursorAt: (index) => page.cursorAt(index),
    hasNext: page.hasNext,
    hasPrevious: page.hasPrevious,
    // Created when they are selected.
    get startCursor() {
      return page.startCursor;
    },
    get endCursor() {
      return page.endCursor;
    },
  };
}

export function connectionText(fields: readonly CollectedField[], page: ConnectionPage): string {
  return objectText(fields, (field) => {
    if (field.mapping.part === "edges") return edgesText(field, page);
    if (field.mapping.part === "pageInfo") return pageInfoText(field, page);
    return typeNameText(field);
  });
}

function edgesText({ selectionSets }: CollectedField, page: ConnectionPage): string {
  const { fields } = selectionSets[0]!;
  const edges = Array.from({ length: page.count }, (_, index) =>
    objectText(fields, (field) => {
      if (field.mapping.part === "node") return page.nodeText(index, field);
      if (field.mapping.part === "cursor") return `"${page.cursorAt(index)}"`;
      return typeNameText(field);
    }),
  );
  return `[${edges.join(",")}]`;
}

function pageInfoText({ selectionSets }: CollectedField, page: ConnectionPage): string {
  return objectText(selectionSets[0]!.fields, (field) => {
    switch (field.mapping.part) {
      case "hasNextPage":
        return String(page.hasNext);
      case "hasPreviousPage":
        return String(page.hasPrevious);
      case "startCursor":
        return JSON.stringify(page.startCursor ?? null);
      case "endCursor":
        return JSON.stringify(page.endCursor ?? null);
      default:
        return typeNameText(field);
    }
  });
}

/** Names of GraphQL need no escaping. */
export function objectText(
  fields: readonly CollectedField[],
  textOf: (field: CollectedField) => string,
): string {
  return `{${fields.map((field) => `"${field.responseName}":${textOf(field)}`).join(",")}}`;
}
