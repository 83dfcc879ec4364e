// Reads, independent of any protocol. REST query strings and GraphQL selections become the same `ListRequest`; the store
// compiles each shape of a `Read` once. Reads contain values and no SQL.

import type { FileValue } from "../declare/field.ts";
import type { Attribute, CountModel, ResourceModel } from "../model/model.ts";
import type { Condition, Value } from "./condition.ts";

/** The members of a row in a response, in their order. */
export interface Selection {
  readonly members: readonly Member[];
  /** Identifies the selection among those of its resource; compiled statements are cached by it. */
  readonly key: string;
  /** The maximum number of rows in one row, including itself. */
  readonly rows: number;
  /** Whether it selects or counts other rows. */
  readonly isNested: boolean;
  /** Whether it selects files, whose addresses are added to the text of its rows. */
  readonly hasFiles: boolean;
}

export type Member =
  | SelectedValue
  | SelectedConstant
  | SelectedRow
  | SelectedList
  | SelectedCount
  | ShownPart;

/** A value of the row, under its own or another name. */
export interface SelectedValue {
  readonly kind: "value";
  readonly name: string;
  readonly attribute: Attribute;
  /** The members of a file, if not all are selected. */
  readonly file?: readonly SelectedFileMember[];
}

/** A member of a file, under its own or another name; `text` is the same in every file. */
export type SelectedFileMember = { readonly name: string } & (
  | { readonly member: keyof FileValue | "url" }
  | { readonly text: string }
);

/** The same text, or null, in every row. */
export interface SelectedConstant {
  readonly kind: "constant";
  readonly name: string;
  readonly text: string | null;
  /** The attribute that deleted rows have in its place. */
  readonly ofDeleted?: string;
}

/** The row that a reference points to: `author { name }`. */
export interface SelectedRow {
  readonly kind: "row";
  readonly name: string;
  readonly reference: Attribute;
  readonly selection: Selection;
  /** If the row does not meet them, the member is null. */
  readonly conditions: readonly Condition[];
}

/** The first rows that refer to this row, `comments { body }`, or those of a many-to-many field, `labels { name }`. */
export interface SelectedList {
  readonly kind: "list";
  readonly name: string;
  readonly resource: ResourceModel;
  /** An attribute of the rows in the list; or the many-to-many field, an attribute of this row. */
  readonly reference: Attribute;
  readonly selection: Selection;
  readonly conditions: readonly Condition[];
  readonly sort: Sort;
  readonly limit: number;
}

/** The number of rows that refer to this row and meet the conditions: `openIssues`. */
export interface SelectedCount {
  readonly kind: "count";
  readonly name: string;
  readonly count: CountModel;
  /** With those that the count declares. */
  readonly conditions: readonly Condition[];
}

/**
 * One of several texts of the same row. A selection has either parts or other members; `partSeparator` separates the
 * texts of its parts.
 */
export interface ShownPart {
  readonly kind: "part";
  readonly selection: Selection;
}

export interface SortKey {
  readonly attribute: Attribute;
  readonly isDescending: boolean;
}

/** What rows are sorted by, the most significant key first. The `id` follows in the direction of the last key, so that the order is total. */
export type Sort = readonly [SortKey, ...SortKey[]];

/** The position of a row in a sorted collection. */
export interface Position {
  /** One for each key of the sort. */
  readonly values: readonly Value[];
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
  /** One of the conditions that another one implied when the store looked it up: no index need serve it. */
  readonly impliedCondition?: Condition;
  /** Every word must begin a word of a searched field. */
  readonly words: readonly string[];
  readonly sort: Sort;
  readonly page: PositionedPage | NumberedPage | FirstPage;
  /** Whether the caller is anonymous: such reads wait apart from those of the tenant's credentials. */
  readonly isAnonymous?: boolean;
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
  /** Whether the caller is anonymous: such reads wait apart from those of the tenant's credentials. */
  readonly isAnonymous?: boolean;
}
