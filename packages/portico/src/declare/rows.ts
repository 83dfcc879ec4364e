// The operations on rows that code of declarations uses: hooks, actions, seeds.

import type { ChangesOf, InputOf, ParentOf, RecordOf, ServerFieldsOf, StoredRecordOf } from "./record.ts";
import type { Resource } from "./resource.ts";
import type { LooseWhere, ReferenceOf, Where } from "./where.ts";

/** What is listed. `sort: "-createdAt"`, `sort: ["status", "-createdAt"]` */
export interface ListOptions<R extends Resource = Resource> extends SortOptions<R> {
  /** At most 1,000 rows. Without it all rows are listed, and more than 1,000 are an error. */
  readonly limit?: number;
  /** The id of the last row that an earlier list returned: only rows after it. */
  readonly after?: string;
}

export interface SortOptions<R extends Resource = Resource> {
  /** Up to three fields, the most significant first; `-` is descending. By default the newest rows come first. */
  readonly sort?: SortName<R> | readonly SortName<R>[];
}

type SortName<R extends Resource> = FieldName<R> | `-${FieldName<R>}`;
type FieldName<R extends Resource> = keyof RecordOf<R> & string;

/** How many rows were written. */
export interface Count {
  readonly count: number;
}

/**
 * The members of a condition that name no field of the resource: each must be a collection, whose resource is declared
 * later, so that its name is checked when the condition is used.
 */
type Known<R extends Resource, W> = {
  readonly [Name in keyof W]: string extends Name
    ? unknown
    : Name extends keyof StoredRecordOf<R> | ReferenceOf<R>
      ? unknown
      : Name extends "AND" | "OR"
        ? W[Name] extends readonly (infer Each)[]
          ? readonly Known<R, Each>[]
          : unknown
        : Name extends "NOT"
          ? Known<R, W[Name]>
          : { readonly some: LooseWhere } | { readonly none: LooseWhere };
};

/**
 * The operations of hooks and actions on rows. They run in the same transaction, see what it has written, and are limited
 * to the tenant of the caller. In an action they are also limited by the policies of the caller, in a hook they are not.
 *
 * Conditions are those of [policies](where.ts), but `undefined` in one is an error: a value that is missing by mistake
 * must not select other rows.
 */
export interface Rows {
  /** The row, locked until the transaction ends. */
  get<R extends Resource>(resource: R, id: string): Promise<StoredRecordOf<R> | undefined>;
  /**
   * The rows that meet a condition, or all. They are not locked.
   *
   * @throws Error for more than 1,000 rows without a `limit`, or more than 16 MiB
   * @example
   * const open = await rows.list(issues, { status: "open", rank: { gte: 3 } }, { sort: "-rank", limit: 10 });
   */
  list<R extends Resource, const W extends Where<R>>(
    resource: R,
    where?: W & Known<R, W>,
    options?: ListOptions<R>,
  ): Promise<StoredRecordOf<R>[]>;
  /** The number of rows that meet a condition, or of all. */
  count<R extends Resource, const W extends Where<R>>(resource: R, where?: W & Known<R, W>): Promise<number>;
  /** The first row that meets a condition, locked until the transaction ends. */
  first<R extends Resource, const W extends Where<R>>(
    resource: R,
    where?: W & Known<R, W>,
    options?: SortOptions<R>,
  ): Promise<StoredRecordOf<R> | undefined>;
  create<R extends Resource>(
    resource: R,
    input: InputOf<R> & ParentOf<R> & ServerFieldsOf<R>,
  ): Promise<StoredRecordOf<R>>;
  update<R extends Resource>(
    resource: R,
    id: string,
    changes: ChangesOf<R> & ServerFieldsOf<R>,
  ): Promise<StoredRecordOf<R>>;
  /**
   * Updates each row that meets a condition, with its hooks and events.
   *
   * @throws Problem `conflict` for more than 10,000 rows
   * @example
   * await rows.updateMany(issues, { projectId, status: "open" }, { status: "closed" });
   */
  updateMany<R extends Resource, const W extends Where<R>>(
    resource: R,
    where: W & Known<R, W>,
    changes: ChangesOf<R> & ServerFieldsOf<R>,
  ): Promise<Count>;
  delete(resource: Resource, id: string): Promise<void>;
  /** Deletes each row that meets a condition, with its hooks and events. @throws Problem `conflict`, as `updateMany` */
  deleteMany<R extends Resource, const W extends Where<R>>(
    resource: R,
    where: W & Known<R, W>,
  ): Promise<Count>;
  /** The same operations without policies. */
  readonly unrestricted: Rows;
}
