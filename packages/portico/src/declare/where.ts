// The types of conditions and policies, inferred from declarations. `query/where.ts` parses the values.

import type { Caller } from "./caller.ts";
import type { Fields, RecordOf } from "./record.ts";
import type { Resource } from "./resource.ts";

type Scalar = string | number | boolean;

/** Comparisons of a field, all of which must hold. */
export interface Operators<Value extends Scalar> {
  /** Differs from the value; rows without a value do. */
  readonly not?: Value | null | undefined;
  readonly in?: readonly (Value | null | undefined)[] | undefined;
  /** Is none of the values; rows without a value are none of them. */
  readonly notIn?: readonly (Value | null | undefined)[] | undefined;
  /** Rows without a value are never less or more than another. */
  readonly lt?: Value | undefined;
  readonly lte?: Value | undefined;
  readonly gt?: Value | undefined;
  readonly gte?: Value | undefined;
  /** Case matters. */
  readonly contains?: string | undefined;
  readonly startsWith?: string | undefined;
  readonly isNull?: boolean | undefined;
}

/** A value, a list of which any may match, or operators. Null matches no row; `isNull` finds rows without a value. */
export type FieldCondition<Value extends Scalar> =
  | Value
  | null
  | undefined
  | readonly (Value | null | undefined)[]
  | Operators<Value>;

type ComparedFields<Row> = {
  readonly [Name in keyof Row]?: [Extract<Row[Name], Scalar>] extends [never]
    ? ElementCondition<Extract<Row[Name], readonly unknown[]>>
    : FieldCondition<Extract<Row[Name], Scalar>>;
};

/** A condition on a list: whether one of its elements is the value, or one of several. */
type ElementCondition<List> = List extends readonly (infer Element extends Scalar)[]
  ?
      | Element
      | null
      | undefined
      | readonly (Element | null | undefined)[]
      | Pick<Operators<Element>, "not" | "in" | "notIn" | "isNull">
  : never;

/** Conditions on the rows of a set. */
interface SetCondition {
  readonly some?: LooseWhere | undefined;
  readonly none?: LooseWhere | undefined;
}

type ReferredRows<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends { readonly kind: "manyToMany" } ? Name : never]?: SetCondition;
} & {
  readonly [Name in keyof F as F[Name] extends { readonly kind: "belongsTo" } ? Name : never]?: LooseWhere;
};

/** The names of references, and of the parent, in conditions on the rows that they lead to. */
export type ReferenceOf<R extends Resource> =
  | keyof ReferredRows<R["fields"]>
  | (R extends { readonly parent?: infer Parent } ? keyof ParentRow<Parent> : never);

/** A resource whose type is written as `Resource` may have any name. */
type ParentRow<Parent> = Parent extends Resource
  ? string extends Parent["name"]
    ? unknown
    : { readonly [Name in Parent["name"]]?: Where<Parent> }
  : unknown;

/**
 * Any part of a condition. The empty text has a type of its own, so that the compiler keeps the types of texts: `"open"`
 * is the choice in `{ project: { status: "open" } }`, not just any text.
 */
type ConditionValue =
  | ""
  | (string & {})
  | number
  | boolean
  | null
  | undefined
  | readonly ConditionValue[]
  | { readonly [name: string]: ConditionValue };

/** A condition whose names are checked at start. */
export type LooseWhere = Readonly<Record<string, unknown>>;

/**
 * A condition on rows of a resource: all of its members must hold.
 *
 * - a field: `{ status: "open" }`, `{ status: ["open", "done"] }`, `{ rank: { gte: 3, not: 5 } }`
 * - an element of a list: `{ tags: "urgent" }`, `{ tags: { notIn: ["done", "closed"] } }`
 * - the row that a reference points to: `{ author: { role: "admin" } }`
 * - the rows that refer to it, by the plural of their resource: `{ comments: { some: { authorId } } }`, or `none`
 * - `{ AND: [...] }`, `{ OR: [...] }`, `{ NOT: {...} }`
 *
 * @example
 * const mine: Where<typeof posts> = { OR: [{ authorId: userId }, { status: "published" }] };
 */
export type Where<R extends Resource = Resource> = ComparedFields<RecordOf<R>> &
  ReferredRows<R["fields"]> &
  ParentRow<R extends { readonly parent?: infer Parent } ? Parent : undefined> & {
    readonly AND?: readonly Where<R>[] | undefined;
    readonly OR?: readonly Where<R>[] | undefined;
    readonly NOT?: Where<R> | undefined;
  } & {
    // Collections: the resources that refer to this one are declared after it. Their names are checked at start.
    readonly [collection: string]: ConditionValue;
  };

/** What a policy is called with. */
export interface PolicyContext {
  readonly caller: Caller;
}

/** Decides which rows a caller may read or write: all of them, none, or those that meet a condition. */
export type Policy<R extends Resource = Resource> = (context: PolicyContext) => boolean | Where<R>;

/**
 * Policies by operation; `write` stands for those of `create`, `update` and `delete` that have none. An operation without
 * a policy is not restricted.
 */
export interface Policies<R extends Resource = Resource> {
  readonly read?: Policy<R>;
  readonly create?: Policy<R>;
  readonly update?: Policy<R>;
  readonly delete?: Policy<R>;
  readonly write?: Policy<R>;
}

/** A policy whose result is not typed. The engine validates it. */
export type LoosePolicy = (context: PolicyContext) => unknown;
export type LoosePolicies = LoosePolicy | Readonly<Partial<Record<keyof Policies, LoosePolicy>>>;
