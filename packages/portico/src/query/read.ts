// What a request asks for, free of any protocol. REST query strings and GraphQL selections become the same
// `Read`; the store compiles it once per shape. Plans hold values, never SQL.

import type { Attribute, ResourceModel } from "../model/model.ts";

/** A value as columns hold it; timestamps are ISO texts. */
export type Value = string | number | boolean | null;

/** What an answer shows of a row, member by member, in the order in which they stand. */
export interface Selection {
  readonly members: readonly Member[];
  /** Tells two selections of one resource apart: the compiled statement is kept under it. */
  readonly key: string;
  /** The most rows that one row is answered with, itself included. */
  readonly rows: number;
  /** Whether there are other rows inside. */
  readonly isNested: boolean;
}

export type Member = SelectedValue | SelectedConstant | SelectedRow | SelectedList | ShownPart;

/** A value of the row, under its own name or another. */
export interface SelectedValue {
  readonly kind: "value";
  readonly name: string;
  readonly attribute: Attribute;
}

/** The same text in every row. */
export interface SelectedConstant {
  readonly kind: "constant";
  readonly name: string;
  readonly text: string;
}

/** The row that a reference leads to: `author { name }`. */
export interface SelectedRow {
  readonly kind: "row";
  readonly name: string;
  readonly reference: Attribute;
  readonly selection: Selection;
  /** What the row must meet to be shown; it is null otherwise. */
  readonly conditions: readonly Condition[];
}

/** The first rows of those whose reference leads to this row: `comments { body }`. */
export interface SelectedList {
  readonly kind: "list";
  readonly name: string;
  readonly resource: ResourceModel;
  /** An attribute of the rows in the list. */
  readonly reference: Attribute;
  readonly selection: Selection;
  readonly conditions: readonly Condition[];
  readonly sort: Sort;
  readonly limit: number;
}

/**
 * One of several texts that are made of the same row. A selection has either parts or other members; the texts of its
 * parts stand beside each other with `partSeparator` between them.
 */
export interface ShownPart {
  readonly kind: "part";
  readonly selection: Selection;
}

export type Operator = "in" | "gte" | "gt" | "lte" | "lt";

/** What a row must meet. */
export type Condition = Comparison | ReferenceCondition;

/**
 * A comparison of one attribute: `in` holds for any of its values, where null stands for no value, and for nothing
 * where there are none; the others have exactly one value.
 */
export interface Comparison {
  readonly attribute: Attribute;
  readonly operator: Operator;
  readonly values: readonly Value[];
}

/** The row that a reference leads to meets all of these conditions; where it leads to no row, this does not hold. */
export interface ReferenceCondition {
  readonly attribute: Attribute;
  readonly operator: "is";
  readonly conditions: readonly Condition[];
}

export function isComparison(condition: Condition): condition is Comparison {
  return condition.operator !== "is";
}

/** The `id` always comes last and in the same direction, so that the order is total. */
export interface Sort {
  readonly attribute: Attribute;
  readonly isDescending: boolean;
}

/** A place between two rows of a sorted collection. */
export interface Position {
  readonly value: Value;
  readonly id: string;
}

/** The rows after (or, backward, before) a position; without one, from the first (or last) row on. */
export interface PositionedPage {
  readonly style: "cursor";
  readonly limit: number;
  readonly position: Position | undefined;
  readonly isBackward: boolean;
  /** Whether the page has the position of every row, not only of the first and the last. */
  readonly includesPositions?: boolean;
}

/** The first rows of a list, without cursors and without knowing whether there are more. */
export interface FirstPage {
  readonly style: "first";
  readonly limit: number;
}

/** Page `number`, counted from 1, of `limit` rows. */
export interface NumberedPage {
  readonly style: "page";
  readonly limit: number;
  readonly number: number;
}

/** A page of a collection, as the store reads it. */
export interface Read {
  readonly resource: ResourceModel;
  readonly selection: Selection;
  readonly conditions: readonly Condition[];
  /** Every word must begin a word of a searched field. */
  readonly words: readonly string[];
  readonly sort: Sort;
  readonly page: PositionedPage | NumberedPage | FirstPage;
}

/** The rows after (or, backward, before) a cursor; without one, from the first (or last) row on. */
export interface CursorPage {
  readonly style: "cursor";
  readonly limit: number;
  /** A token that an earlier page of the same list returned. */
  readonly cursor: string | undefined;
  readonly isBackward: boolean;
  /** Whether the page has a cursor for every row, not only for the first and the last. */
  readonly includesCursors?: boolean;
}

/** What a nested collection belongs to: a row that its rows refer to, or the caller's tenant. */
export interface Container {
  readonly by: Attribute | "tenant";
  readonly id: string;
}

/** A page of a collection, as a protocol requests it. The engine turns it into a `Read`. */
export interface ListRequest extends Omit<Read, "page"> {
  /** Where the collection is nested: `/projects/{id}/issues`. */
  readonly within?: Container | undefined;
  readonly page: CursorPage | NumberedPage | FirstPage;
}

/** One row by its id. */
export interface ReadOne {
  readonly resource: ResourceModel;
  readonly selection: Selection;
  readonly id: string;
  readonly conditions: readonly Condition[];
}

/** What tells two lists of conditions apart but for their values. */
export function conditionShape(conditions: readonly Condition[]): string {
  let shape = "";
  for (const condition of conditions) {
    const { attribute, operator } = condition;
    shape +=
      operator === "is"
        ? `${attribute.name} is(${conditionShape(condition.conditions)}),`
        : `${attribute.name} ${operator}${valuesShape(condition.values)},`;
  }
  return shape;
}

/** Null is a part of the statement, and not bound to it. */
function valuesShape(values: readonly Value[]): number | string {
  return values.includes(null) ? values.map((value) => (value === null ? "-" : "?")).join("") : values.length;
}
