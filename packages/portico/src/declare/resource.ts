// What a user writes: one object for each resource, from which everything else is derived.

import type { FieldError } from "../errors.ts";
import type { Caller } from "./caller.ts";
import type { Deprecation, FieldShape } from "./field.ts";
import type { ChangesOf, Fields, InputOf, ParentOf, RecordOf, ServerFieldsOf } from "./record.ts";

/** What a field is compared with: null means that it is null, `undefined` matches nothing. */
export type FilterValue = string | number | boolean | null | undefined;

/** Equality on each named field; several values mean any of them. Becomes part of the SQL. */
export type RowFilter = Readonly<Record<string, FilterValue | readonly FilterValue[]>>;

/** A filter that also takes `createdAt[gte|gt|lte|lt]=`. */
export interface Range {
  readonly range: string;
}

/** Declares `field[gte|gt|lte|lt]=` beside `field=`. `filter: ["status", range("createdAt")]` */
export function range<const Name extends string>(name: Name): { readonly range: Name } {
  return { range: name };
}

/** The operations a hook may use; they run in the same transaction and see the caller's tenant only. */
export interface Rows {
  get<R extends Resource>(resource: R, id: string): Promise<RecordOf<R> | undefined>;
  create<R extends Resource>(
    resource: R,
    input: InputOf<R> & ParentOf<R> & ServerFieldsOf<R>,
  ): Promise<RecordOf<R>>;
  update<R extends Resource>(
    resource: R,
    id: string,
    changes: ChangesOf<R> & ServerFieldsOf<R>,
  ): Promise<RecordOf<R>>;
  delete(resource: Resource, id: string): Promise<void>;
}

export interface HookContext {
  readonly caller: Caller;
  /** The moment of this write, as it will stand in `createdAt` or `updatedAt`. */
  readonly now: string;
  readonly rows: Rows;
  /** Adds members to the answer of this write, which are kept nowhere: a new key, shown this once. */
  readonly returnOnce: (members: Readonly<Record<string, unknown>>) => void;
}

/** The second argument of `validate`. */
export interface ValidationContext {
  /** `create` and `replace` describe a whole row, `update` the changed fields. */
  readonly operation: "create" | "replace" | "update";
  readonly now: string;
  /** Every scope that a credential can hold. */
  readonly scopes: readonly string[];
}

/** What POST does at `/posts/{id}/SEGMENT`: a noun, such as `rotations`. */
export interface Action<Row, F extends Fields = Fields> {
  /** What its body may say. */
  readonly input: F;
  /** The verb of its GraphQL mutation: `rotate` makes `rotateApiKey`. Without one there is none. */
  readonly verb?: string;
  /** Runs in a transaction, with the row locked; the row that it answers with is that of 201. */
  run(
    current: Row,
    input: Readonly<Record<string, unknown>>,
    context: HookContext,
  ): Promise<Readonly<Record<string, unknown>> & { readonly id: string }>;
}

type Awaitable<T> = T | Promise<T>;

/**
 * What happens around a write, inside its transaction: a hook that throws undoes it. `before` hooks may
 * return other values to be written. PUT counts as a change. While a hook waits, SQLite's writer waits
 * with it, so a hook must not wait for anything but `context.rows`.
 */
export interface Hooks<Row, Input, Changes, ServerFields = unknown> {
  readonly before?: {
    create?(input: Input, context: HookContext): Awaitable<(Partial<Row> & ServerFields) | undefined>;
    update?(
      changes: Changes,
      context: HookContext & { readonly current: Row },
    ): Awaitable<(Partial<Row> & ServerFields) | undefined>;
    delete?(context: HookContext & { readonly current: Row }): Awaitable<void>;
  };
  readonly after?: {
    create?(row: Row, context: HookContext): Awaitable<void>;
    update?(row: Row, context: HookContext & { readonly previous: Row }): Awaitable<void>;
    delete?(row: Row, context: HookContext): Awaitable<void>;
  };
}

/** What callers can do with a resource: its collection has the first and the third, a row of it the others. */
export const operationNames = ["list", "get", "create", "replace", "update", "delete"] as const;
export type OperationName = (typeof operationNames)[number];

export interface Declaration<F extends Fields = Fields, Parent = unknown> {
  readonly fields: F;
  /** The plural in camelCase, where adding an `s` is wrong: `people`. */
  readonly plural?: string;
  /** The parent resource: `/posts/{id}/comments`. Rows are deleted with their parent. */
  readonly parent?: Parent;
  /** Fields that callers may filter by. Each is backed by an index for every declared sort. */
  readonly filter?: readonly (RowName<F, Parent> | { readonly range: RowName<F, Parent> })[];
  /** Fields that callers may sort by; `createdAt` when left out. */
  readonly sort?: readonly RowName<F, Parent>[];
  /** Text fields that `q` looks into. */
  readonly search?: readonly (keyof F & string)[];
  /** Scopes, by default `<plural>:read` and `<plural>:write`. */
  readonly scopes?: { readonly read: string; readonly write: string };
  /** The version whose path it is served under, by default the current one. */
  readonly version?: string;
  /** `cursor` (the default) or `page` with `page` and `perPage`. */
  readonly paging?: "cursor" | "page";
  /** Rows that a caller may see and change; undefined means all of the tenant's. It depends on the caller alone. */
  readonly policy?: (caller: Caller) => RowFilter | undefined;
  /** `false`: its rows are visible even where their parent is not. */
  readonly inheritPolicy?: boolean;
  readonly hooks?: Hooks<RowOf<F, Parent>, InputFor<F>, Partial<InputFor<F>>, ServerFieldsFor<F>>;
  /** Faults of a body that no schema can tell; members that have faults already are left out of it. */
  readonly validate?: (input: Partial<InputFor<F>>, context: ValidationContext) => readonly FieldError[];
  /** DELETE keeps the row and sets this timestamp once. */
  readonly markOnDelete?: keyof F & string;
  readonly actions?: Readonly<Record<string, Action<RowOf<F, Parent>>>>;
  /**
   * The collection is also nested under these references, to be listed and deleted as a whole: `owner` makes
   * `/users/{id}/api-keys`. `tenant` is the caller's own.
   */
  readonly nestedUnder?: readonly ((keyof F & string) | "tenant")[];
  /** `false` hides it from every protocol: only hooks and the server itself read and write it. */
  readonly exposed?: boolean;
  /** `false` records no events of its writes. */
  readonly events?: boolean;
  /** The operations that callers can use; all of them by default. `["list", "get"]` is read-only. */
  readonly operations?: readonly OperationName[];
  readonly description?: string;
  readonly deprecated?: Deprecation;
}

type RowOf<F extends Fields, Parent> = RecordOf<Resource<string, F, Parent>>;
type InputFor<F extends Fields> = InputOf<Resource<string, F, undefined>>;
type ServerFieldsFor<F extends Fields> = ServerFieldsOf<Resource<string, F, undefined>>;
type RowName<F extends Fields, Parent> = keyof RowOf<F, Parent> & string;

/** A declared resource. Its type carries name and fields, so that records and inputs are inferred. */
export interface Resource<Name extends string = string, F extends Fields = Fields, Parent = unknown> {
  readonly name: Name;
  readonly fields: F;
  readonly parent?: Parent;
  /** The declaration, less exactly typed: the model reads it, checks it and derives the rest. */
  readonly declaration: LooseDeclaration;
}

/** A declaration whose field names are plain text: what the model is made from. */
export interface LooseDeclaration
  extends Omit<
    Declaration,
    | "fields"
    | "parent"
    | "filter"
    | "sort"
    | "search"
    | "hooks"
    | "validate"
    | "markOnDelete"
    | "actions"
    | "nestedUnder"
  > {
  readonly fields: Readonly<Record<string, FieldShape>>;
  readonly parent?: Resource | undefined;
  readonly filter?: readonly (string | Range)[];
  readonly sort?: readonly string[];
  readonly search?: readonly string[];
  readonly hooks?: LooseHooks;
  readonly validate?: (
    input: Readonly<Record<string, unknown>>,
    context: ValidationContext,
  ) => readonly FieldError[];
  readonly markOnDelete?: string;
  readonly actions?: Readonly<Record<string, LooseAction>>;
  readonly nestedUnder?: readonly string[];
}
export type LooseAction = Action<Record<string, unknown>>;
export type LooseHooks = Hooks<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>;

/**
 * Declares a resource. The name is the singular in camelCase: `post` is served at `/posts`,
 * `apiKey` at `/api-keys`.
 *
 * @example
 * const posts = resource("post", {
 *   fields: { title: text({ min: 1, max: 200 }), status: choice(["draft", "published"], { default: "draft" }) },
 *   filter: ["status"],
 *   sort: ["createdAt", "title"],
 *   search: ["title"],
 * });
 */
export function resource<
  const Name extends string,
  F extends Fields,
  Parent extends Resource | undefined = undefined,
>(name: Name, declaration: Declaration<F, Parent>): Resource<Name, F, Parent> {
  return Object.freeze({
    name,
    fields: declaration.fields,
    parent: declaration.parent as Parent,
    // The exact types were checked at this call; from here on names are looked up in the model.
    declaration: Object.freeze({ ...declaration }) as unknown as LooseDeclaration,
  });
}
