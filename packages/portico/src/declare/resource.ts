// The declaration of a resource: one object, from which everything else is derived.

import type { FieldError } from "../errors.ts";
import type { Caller } from "./caller.ts";
import type { FieldShape } from "./field.ts";
import type { Deprecation } from "./field-options.ts";
import type { LooseFilter } from "./filter.ts";
import type { ChangesOf, Fields, InputOf, ParentOf, RecordOf, ServerFieldsOf } from "./record.ts";
import type { LoosePolicies, Policies, Policy } from "./where.ts";

/**
 * The operations that hooks and actions can use. They run in the same transaction and are limited to the tenant of the
 * caller. In an action they are also limited by the policies of the caller, in a hook they are not.
 */
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
  /** The same operations without policies. */
  readonly unrestricted: Rows;
}

export interface HookContext {
  readonly caller: Caller;
  /** The time of this write, which becomes `createdAt` or `updatedAt`. */
  readonly now: string;
  readonly rows: Rows;
  /** Adds members to the response of this write that are not stored, such as a new key, which is shown only once. */
  readonly returnOnce: (members: Readonly<Record<string, unknown>>) => void;
}

/** The second argument of `validate`. */
export interface ValidationContext {
  /** The input of `create` and `replace` is a whole row, that of `update` the changed fields. */
  readonly operation: "create" | "replace" | "update";
  readonly now: string;
  /** All scopes that a credential can have. */
  readonly scopes: readonly string[];
}

/** An action on a row, called by POST to `/posts/{id}/SEGMENT`. The segment is a noun, such as `rotations`. */
export interface Action<Row, F extends Fields = Fields> {
  /** The fields of its request body. */
  readonly input: F;
  /** The verb of its GraphQL mutation: `rotate` makes `rotateApiKey`. Without a verb there is no mutation. */
  readonly verb?: string;
  /** Runs in a transaction, with the row locked. The row that it returns is the body of the 201 response. */
  run(
    current: Row,
    input: Readonly<Record<string, unknown>>,
    context: HookContext,
  ): Promise<Readonly<Record<string, unknown>> & { readonly id: string }>;
}

type Awaitable<T> = T | Promise<T>;

/**
 * Hooks that run before and after a write, in its transaction: a hook that throws rolls it back. A `before` hook can return
 * other values to write. PUT runs the `update` hooks. While a hook waits, SQLite's only writer waits, so a hook must await
 * nothing but `context.rows`.
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

/** The operations on a resource: `list` and `create` on its collection, the others on a row. */
export const operationNames = ["list", "get", "create", "replace", "update", "delete"] as const;
export type OperationName = (typeof operationNames)[number];

/** The operations that a declaration can make public. */
export const publicOperationNames = ["list", "get"] as const satisfies readonly OperationName[];
export type PublicOperation = (typeof publicOperationNames)[number];

export interface Declaration<F extends Fields = Fields, Parent = unknown> {
  readonly fields: F;
  /** The plural in camelCase, if the default is wrong: `people`. */
  readonly plural?: string;
  /**
   * The first name of a resource that was renamed, with its plural if that was declared. The table, recorded events, the
   * prefix of ids and the default scopes keep it, so it stays declared. `was: "person"`,
   * `was: { name: "person", plural: "people" }`
   */
  readonly was?: string | { readonly name: string; readonly plural: string };
  /** The parent resource: `/posts/{id}/comments`. Rows are deleted with their parent. */
  readonly parent?: Parent;
  /**
   * Fields that callers may filter by; each has an index for pages in the default order. `"author.name"` is a field of a
   * related row. `filter: ["status", range("createdAt"), contains("title"), "author.name"]`
   */
  readonly filter?: readonly (
    | FilterName<F, Parent>
    | { readonly range: FilterName<F, Parent> }
    | { readonly contains: FilterName<F, Parent> }
    | { readonly startsWith: FilterName<F, Parent> }
  )[];
  /** Fields that callers may sort by; `createdAt` when left out. */
  readonly sort?: readonly RowName<F, Parent>[];
  /** Text fields that `q` searches. */
  readonly search?: readonly (keyof F & string)[];
  /**
   * Fields whose values, taken together, occur once in a tenant. A row without a value in one of them is not compared.
   * `unique: [["ownerId", "name"]]`
   */
  readonly unique?: readonly (readonly RowName<F, Parent>[])[];
  /**
   * Indexes for pages that are filtered by all fields but the last and sorted by the last. `-` stores it in descending
   * order. `indexes: [["status", "-title"]]`
   */
  readonly indexes?: readonly (readonly (RowName<F, Parent> | `-${RowName<F, Parent>}`)[])[];
  /** Scopes, by default `<plural>:read` and `<plural>:write`. */
  readonly scopes?: { readonly read: string; readonly write: string };
  /** The version in its path, by default the current one. */
  readonly version?: string;
  /** `cursor` (the default), or `page` for pages by number (`page` and `perPage`). */
  readonly paging?: "cursor" | "page";
  /**
   * Which rows a caller may read and write, as one function for all operations or as several. By default all rows of the
   * tenant. It depends on the caller only.
   */
  readonly policy?: Policy<Resource<string, F, Parent>> | Policies<Resource<string, F, Parent>>;
  /** `false`: the policies of its parent do not apply to its rows. */
  readonly inheritPolicy?: boolean;
  readonly hooks?: Hooks<RowOf<F, Parent>, InputFor<F>, Partial<InputFor<F>>, ServerFieldsFor<F>>;
  /** Validates what a schema cannot express. Members of the input that are invalid already are left out. */
  readonly validate?: (input: Partial<InputFor<F>>, context: ValidationContext) => readonly FieldError[];
  /** DELETE sets this timestamp once and keeps the row. */
  readonly markOnDelete?: keyof F & string;
  readonly actions?: Readonly<Record<string, Action<RowOf<F, Parent>>>>;
  /**
   * The collection is also nested under these references, where it can be listed and deleted as a whole: `owner` makes
   * `/users/{id}/api-keys`. `tenant` is the tenant of the caller.
   */
  readonly nestedUnder?: readonly ((keyof F & string) | "tenant")[];
  /** `false` hides the resource from all protocols: only hooks and the server itself read and write it. */
  readonly exposed?: boolean;
  /** `false`: its writes record no events. */
  readonly events?: boolean;
  /** `"required"` refuses POST, PATCH and mutations without the header `Idempotency-Key`. */
  readonly idempotencyKey?: "required";
  /**
   * The operations that need no secret credential: `["list", "get"]`. They are open to publishable keys, and to requests
   * without any credential in the tenant that PORTICO_PUBLIC_TENANT names. In policies, `caller.kind` is `anonymous`.
   */
  readonly public?: readonly PublicOperation[];
  /** The operations that callers can use, by default all. `["list", "get"]` makes it read-only. */
  readonly operations?: readonly OperationName[];
  /** What to do about a row that cannot be deleted because others refer to it, for the message: "Archive it instead." */
  readonly whenReferenced?: string;
  readonly description?: string;
  readonly deprecated?: Deprecation;
}

type RowOf<F extends Fields, Parent> = RecordOf<Resource<string, F, Parent>>;
type InputFor<F extends Fields> = InputOf<Resource<string, F, undefined>>;
type ServerFieldsFor<F extends Fields> = ServerFieldsOf<Resource<string, F, undefined>>;
/** Names of fields of related rows are checked at start. */
type FilterName<F extends Fields, Parent> = RowName<F, Parent> | `${string}.${string}`;
type RowName<F extends Fields, Parent> = keyof RowOf<F, Parent> & string;

/** A declared resource. Its type contains its name and fields, from which the types of records and inputs are inferred. */
export interface Resource<Name extends string = string, F extends Fields = Fields, Parent = unknown> {
  readonly name: Name;
  readonly fields: F;
  readonly parent?: Parent;
  /** The declaration with loose types. The model validates it and derives the rest from it. */
  readonly declaration: LooseDeclaration;
}

/** A declaration whose field names are plain strings. The model is built from it. */
export interface LooseDeclaration
  extends Omit<
    Declaration,
    | "fields"
    | "parent"
    | "filter"
    | "sort"
    | "search"
    | "unique"
    | "indexes"
    | "hooks"
    | "validate"
    | "markOnDelete"
    | "actions"
    | "nestedUnder"
    | "policy"
  > {
  readonly fields: Readonly<Record<string, FieldShape>>;
  readonly parent?: Resource | undefined;
  readonly filter?: readonly LooseFilter[];
  readonly sort?: readonly string[];
  readonly search?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
  readonly hooks?: LooseHooks;
  readonly validate?: (
    input: Readonly<Record<string, unknown>>,
    context: ValidationContext,
  ) => readonly FieldError[];
  readonly markOnDelete?: string;
  readonly actions?: Readonly<Record<string, LooseAction>>;
  readonly nestedUnder?: readonly string[];
  readonly policy?: LoosePolicies;
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
    // The types were checked at this call. From here on, names are looked up in the model.
    declaration: Object.freeze({ ...declaration }) as unknown as LooseDeclaration,
  });
}
