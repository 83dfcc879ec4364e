// The declaration of a resource: one object, from which everything else is derived. It has all options with their types, so
// the file is longer than most.

import type { FieldError } from "../errors.ts";
import type { Actions, LooseAction } from "./action.ts";
import type { FieldShape } from "./field.ts";
import type { Deprecation } from "./field-options.ts";
import type { LooseFilter } from "./filter.ts";
import type { Hooks, LooseHooks, ValidationContext } from "./hooks.ts";
import type { Fields, InputOf, RecordOf, ServerFieldsOf, StoredRecordOf } from "./record.ts";
import type { ResourceVersions } from "./versions.ts";
import type { LoosePolicies, Policies, Policy } from "./where.ts";

/** The operations on a resource: `list` and `create` on its collection, the others on a row. */
export const operationNames = ["list", "get", "create", "replace", "update", "delete"] as const;
export type OperationName = (typeof operationNames)[number];

/** The operations that a declaration can make public. */
export const publicOperationNames = ["list", "get"] as const satisfies readonly OperationName[];
export type PublicOperation = (typeof publicOperationNames)[number];

export interface Declaration<
  F extends Fields = Fields,
  Parent = unknown,
  Inputs extends Readonly<Record<string, Fields>> = Readonly<Record<string, Fields>>,
  Answers = Readonly<Record<string, unknown>>,
  Levels = unknown,
  Plural = string,
  Filter = FilterEntry<F, Parent>,
  Sort = RowName<F, Parent>,
  Search = keyof F & string,
  Paging = "cursor" | "page",
  Operations = OperationName,
  NestedUnder = (keyof F & string) | "tenant",
  Soft = boolean | SoftDelete,
> {
  readonly fields: F;
  /** The plural in camelCase, if the default is wrong: `people`. */
  readonly plural?: Plural;
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
  readonly filter?: readonly Filter[];
  /** Fields that callers may sort by; `createdAt` when left out. */
  readonly sort?: readonly Sort[];
  /** Text fields that `q` searches. */
  readonly search?: readonly Search[];
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
  /**
   * The names that fields have in older versions of the API, which the app lists in its `versions`. With
   * `versions: { v1: { title: "headline", subtitle: false } }`, the field `headline` is `title` in v1, and v1 has no
   * `subtitle`.
   */
  readonly versions?: ResourceVersions<keyof F & string>;
  /** `cursor` (the default), or `page` for pages by number (`page` and `perPage`). */
  readonly paging?: Paging;
  /**
   * Which rows a caller may read and write, as one function for all operations or as several. By default all rows of the
   * tenant. It depends on the caller only.
   */
  readonly policy?: Policy<Resource<string, F, Parent>> | Policies<Resource<string, F, Parent>>;
  /** `false`: the policies of its parent do not apply to its rows. */
  readonly inheritPolicy?: boolean;
  readonly hooks?: Hooks<
    StoredRowOf<F, Parent>,
    InputFor<F>,
    Partial<InputFor<F>>,
    ServerFieldsFor<F>,
    Parent
  >;
  /** Validates what a schema cannot express. Members of the input that are invalid already are left out. */
  readonly validate?: (input: Partial<InputFor<F>>, context: ValidationContext) => readonly FieldError[];
  /** DELETE sets this timestamp once and keeps the row. */
  readonly markOnDelete?: keyof F & string;
  /**
   * DELETE keeps the row and all rows that are deleted with it, apart from the others: nothing shows, finds or changes them
   * until the row is restored. `{ purgeAfterDays: 30 }` deletes them for good after that time.
   */
  readonly softDelete?: Soft;
  readonly actions?: Actions<StoredRowOf<F, Parent>, Parent, Inputs, Answers, Levels>;
  /**
   * The collection is also nested under these references, where it can be listed and deleted as a whole: `owner` makes
   * `/users/{id}/api-keys`. `tenant` is the tenant of the caller.
   */
  readonly nestedUnder?: readonly NestedUnder[];
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
  readonly operations?: readonly Operations[];
  /**
   * Whether MCP offers its operations as tools: all of them (the default), none (`false`), or those named, by operation or
   * by action: `["list", "get", "publications"]`.
   */
  readonly mcp?: boolean | readonly string[];
  /** What to do about a row that cannot be deleted because others refer to it, for the message: "Archive it instead." */
  readonly whenReferenced?: string;
  readonly description?: string;
  /** Deprecates the resource: all responses to requests for it have the header `Deprecation`. */
  readonly deprecated?: Deprecation;
  /** Deprecates some of its operations: `{ delete: { since: "2027-01-01" } }`. Actions have an option of their own. */
  readonly deprecatedOperations?: Readonly<Partial<Record<OperationName, Deprecation>>>;
  /**
   * The members that hooks and actions add to responses with `returnOnce`, and what they are, for the documentation:
   * `{ key: "The key. It is not shown again." }`
   */
  readonly returnsOnce?: Readonly<Record<string, string>>;
}

/** The options that the type of a resource keeps. An option that is not declared has its default. */
export interface Traits<
  Plural = unknown,
  Filter = unknown,
  Sort = unknown,
  Search = unknown,
  Paging = unknown,
  Operations = unknown,
  NestedUnder = unknown,
  Soft = unknown,
  Inputs = unknown,
  Answers = unknown,
  Levels = unknown,
  Version = unknown,
  Exposed = unknown,
> {
  readonly plural: Plural;
  readonly filter: Filter;
  readonly sort: Sort;
  readonly search: Search;
  readonly paging: Paging;
  readonly operations: Operations;
  readonly nestedUnder: NestedUnder;
  readonly softDelete: Soft;
  /** The fields of the bodies of actions, and of their answers, by segments. */
  readonly inputs: Inputs;
  readonly answers: Answers;
  /** Whether an action is on a row or on the collection. */
  readonly levels: Levels;
  /** `string` if it is not declared. */
  readonly version: Version;
  readonly exposed: Exposed;
}

/** How long deleted rows can be restored. */
export interface SoftDelete {
  /** From 1 to 3,650. */
  readonly purgeAfterDays: number;
}

type FilterEntry<F extends Fields, Parent> =
  | FilterName<F, Parent>
  | { readonly range: FilterName<F, Parent> }
  | { readonly contains: FilterName<F, Parent> }
  | { readonly startsWith: FilterName<F, Parent> };

/** As `plural` of `lib/case.ts`. */
type DefaultPlural<Name extends string> = Name extends `${infer Start}y`
  ? Start extends `${string}${"a" | "e" | "i" | "o" | "u"}`
    ? `${Name}s`
    : `${Start}ies`
  : Name extends `${string}${"s" | "x" | "z" | "ch" | "sh"}`
    ? `${Name}es`
    : `${Name}s`;

type StoredRowOf<F extends Fields, Parent> = StoredRecordOf<Resource<string, F, Parent>>;
type RowOf<F extends Fields, Parent> = RecordOf<Resource<string, F, Parent>>;
type InputFor<F extends Fields> = InputOf<Resource<string, F, undefined>>;
type ServerFieldsFor<F extends Fields> = ServerFieldsOf<Resource<string, F, undefined>>;
/** Names of fields of related rows are checked at start. */
type FilterName<F extends Fields, Parent> = RowName<F, Parent> | `${string}.${string}`;
type RowName<F extends Fields, Parent> = keyof RowOf<F, Parent> & string;

/**
 * A declared resource. Its type contains its name and fields, from which the types of records and inputs are inferred, and
 * its traits, from which those of the [client](../../client/index.ts) are.
 */
export interface Resource<
  Name extends string = string,
  F extends Fields = Fields,
  Parent = unknown,
  Traits = unknown,
> {
  readonly name: Name;
  readonly fields: F;
  readonly parent?: Parent;
  /** Exists for the compiler only. */
  readonly "~traits"?: Traits;
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

/**
 * Declares a resource. `id`, `createdAt` and `updatedAt` are added to its fields. The declaration is validated when the
 * server starts, with errors that name the resource and the field.
 *
 * @param name the singular in camelCase, at most 41 characters: `post` is served at `/posts`, `apiKey` at `/api-keys`
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
  // biome-ignore lint/complexity/noBannedTypes: without actions there are no inputs.
  Inputs extends Readonly<Record<string, Fields>> = {},
  // biome-ignore lint/complexity/noBannedTypes: nor are there answers.
  Answers extends Readonly<Record<string, unknown>> = {},
  const Plural extends string = DefaultPlural<Name>,
  const Filter extends FilterEntry<F, Parent> = never,
  const Sort extends RowName<F, Parent> = "createdAt",
  const Search extends keyof F & string = never,
  Paging extends "cursor" | "page" = "cursor",
  Operations extends OperationName = OperationName,
  const NestedUnder extends (keyof F & string) | "tenant" = never,
  Soft extends boolean | SoftDelete = false,
  // biome-ignore lint/complexity/noBannedTypes: nor are there actions on a row or on the collection.
  const Levels extends Readonly<Record<string, unknown>> = {},
  const Version extends string = string,
  Exposed extends boolean = true,
>(
  name: Name,
  declaration: Declaration<
    F,
    Parent,
    Inputs,
    Answers,
    Levels,
    Plural,
    Filter,
    Sort,
    Search,
    Paging,
    Operations,
    NestedUnder,
    Soft
  > & { readonly version?: Version; readonly exposed?: Exposed },
): Resource<
  Name,
  F,
  Parent,
  Traits<
    Plural,
    Filter,
    Sort,
    Search,
    Paging,
    Operations,
    NestedUnder,
    Soft,
    Inputs,
    Answers,
    Levels,
    Version,
    Exposed
  >
> {
  return Object.freeze({
    name,
    fields: declaration.fields,
    parent: declaration.parent as Parent,
    // The types were checked at this call. From here on, names are looked up in the model.
    declaration: Object.freeze({ ...declaration }) as unknown as LooseDeclaration,
  });
}
