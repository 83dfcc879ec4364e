// What a user writes: one object for each resource, from which everything else is derived.

import type { Fault } from "../errors.ts";
import type { Caller } from "./caller.ts";
import type { Deprecation, FieldShape } from "./field.ts";
import type { ByServerOf, ChangesOf, Fields, InputOf, ParentOf, RecordOf } from "./record.ts";

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
    input: InputOf<R> & ParentOf<R> & ByServerOf<R>,
  ): Promise<RecordOf<R>>;
  change<R extends Resource>(
    resource: R,
    id: string,
    changes: ChangesOf<R> & ByServerOf<R>,
  ): Promise<RecordOf<R>>;
  remove(resource: Resource, id: string): Promise<void>;
}

export interface HookContext {
  readonly caller: Caller;
  /** The moment of this write, as it will stand in `createdAt` or `updatedAt`. */
  readonly now: string;
  readonly rows: Rows;
  /** Adds members to the answer of this write, which are kept nowhere: a new key, shown this once. */
  readonly reveal: (members: Readonly<Record<string, unknown>>) => void;
}

/** What `check` is told beside the body. */
export interface CheckContext {
  /** `create` and `replace` describe a whole row, `change` what changes. */
  readonly operation: "create" | "replace" | "change";
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
export interface Hooks<Row, Input, Changes, ByServer = unknown> {
  readonly before?: {
    create?(input: Input, context: HookContext): Awaitable<(Partial<Row> & ByServer) | undefined>;
    change?(
      changes: Changes,
      context: HookContext & { readonly current: Row },
    ): Awaitable<(Partial<Row> & ByServer) | undefined>;
    remove?(context: HookContext & { readonly current: Row }): Awaitable<void>;
  };
  readonly after?: {
    create?(row: Row, context: HookContext): Awaitable<void>;
    change?(row: Row, context: HookContext & { readonly previous: Row }): Awaitable<void>;
    remove?(row: Row, context: HookContext): Awaitable<void>;
  };
}

/** What callers can do with a resource: its collection has the first and the third, a row of it the others. */
export const operations = ["list", "get", "create", "replace", "change", "remove"] as const;
export type Operation = (typeof operations)[number];

export interface Declaration<F extends Fields = Fields, Under = unknown> {
  readonly fields: F;
  /** The plural in camelCase, where adding an `s` is wrong: `people`. */
  readonly plural?: string;
  /** The resource that this one stands under: `/posts/{id}/comments`. Removed together with it. */
  readonly under?: Under;
  /** Fields that callers may filter by. Each is backed by an index for every declared sort. */
  readonly filter?: readonly (RowName<F, Under> | { readonly range: RowName<F, Under> })[];
  /** Fields that callers may sort by; `createdAt` when left out. */
  readonly sort?: readonly RowName<F, Under>[];
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
  /** `false`: its rows are also visible where the row they stand under is not. */
  readonly inheritPolicy?: boolean;
  readonly hooks?: Hooks<RowOf<F, Under>, InputFor<F>, Partial<InputFor<F>>, ByServerFor<F>>;
  /** Faults of a body that no schema can tell; members that have faults already are left out of it. */
  readonly check?: (input: Partial<InputFor<F>>, context: CheckContext) => readonly Fault[];
  /** DELETE keeps the row and sets this timestamp; what is marked already stays as it is. */
  readonly removal?: { readonly marks: keyof F & string };
  readonly actions?: Readonly<Record<string, Action<RowOf<F, Under>>>>;
  /**
   * References below whose rows the collection also stands, to be read and removed as a whole: `owner` makes
   * `/users/{id}/api-keys`. `tenant` stands for the caller's own.
   */
  readonly alsoUnder?: readonly ((keyof F & string) | "tenant")[];
  /** `false` keeps it from every door: only hooks and the server itself read and write it. */
  readonly served?: boolean;
  /** `false` records no events of its writes. */
  readonly recorded?: boolean;
  /** What doors offer of it, where that is not everything: `["list", "get"]` is read-only. */
  readonly operations?: readonly Operation[];
  readonly description?: string;
  readonly deprecated?: Deprecation;
}

type RowOf<F extends Fields, Under> = RecordOf<Resource<string, F, Under>>;
type InputFor<F extends Fields> = InputOf<Resource<string, F, undefined>>;
type ByServerFor<F extends Fields> = ByServerOf<Resource<string, F, undefined>>;
type RowName<F extends Fields, Under> = keyof RowOf<F, Under> & string;

/** A declared resource. Its type carries name and fields, so that records and inputs are inferred. */
export interface Resource<Name extends string = string, F extends Fields = Fields, Under = unknown> {
  readonly name: Name;
  readonly fields: F;
  readonly under?: Under;
  /** The declaration, less exactly typed: the model reads it, checks it and derives the rest. */
  readonly declaration: LooseDeclaration;
}

/** A declaration whose field names are plain text: what the model is made from. */
export interface LooseDeclaration
  extends Omit<
    Declaration,
    | "fields"
    | "under"
    | "filter"
    | "sort"
    | "search"
    | "hooks"
    | "check"
    | "removal"
    | "actions"
    | "alsoUnder"
  > {
  readonly fields: Readonly<Record<string, FieldShape>>;
  readonly under?: Resource | undefined;
  readonly filter?: readonly (string | Range)[];
  readonly sort?: readonly string[];
  readonly search?: readonly string[];
  readonly hooks?: LooseHooks;
  readonly check?: (input: Readonly<Record<string, unknown>>, context: CheckContext) => readonly Fault[];
  readonly removal?: { readonly marks: string };
  readonly actions?: Readonly<Record<string, LooseAction>>;
  readonly alsoUnder?: readonly string[];
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
  Under extends Resource | undefined = undefined,
>(name: Name, declaration: Declaration<F, Under>): Resource<Name, F, Under> {
  return Object.freeze({
    name,
    fields: declaration.fields,
    under: declaration.under as Under,
    // The exact types were checked at this call; from here on names are looked up in the model.
    declaration: Object.freeze({ ...declaration }) as unknown as LooseDeclaration,
  });
}
