// The methods of a client, from the description of an API as types.

import type { ActionTypes, Api, CalledRoute, ResourceTypes } from "./api.ts";
import type { Event, EventQuery, EventTypes, LoggedEvent, SubscribeOptions } from "./event-types.ts";
import type { OwnResources } from "./own-resources.ts";
import type { Described, FieldPath, FieldsOption, Names, Selected } from "./selection-types.ts";
import type { RequestOptions } from "./transport.ts";

/** A page as REST returns it. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: {
    readonly nextCursor: string | null;
    readonly hasMore: boolean;
    readonly prevCursor?: string;
    /** Of numbered pages only. */
    readonly total?: number;
  };
}

type Sort<R extends ResourceTypes> = R["sort"] | `-${R["sort"]}`;

/** The query of a list or an export: the filters, and these options. */
type RowsOptions<R extends ResourceTypes, Path extends string> = R["filters"] &
  FieldsOption<Path> & {
    /** Up to three fields, the most significant first; `-` is descending. */
    readonly sort?: Sort<R> | readonly Sort<R>[] | undefined;
  } & (R["search"] extends true ? { readonly q?: string | undefined } : unknown) &
  (R["softDelete"] extends true ? { readonly deleted?: boolean | undefined } : unknown);

type ListOptions<R extends ResourceTypes, Path extends string> = RowsOptions<R, Path> & {
  /** Rows of a page, at most 100. */
  readonly limit?: number | undefined;
} & (R["paging"] extends "page"
    ? { readonly page?: number | undefined; readonly perPage?: number | undefined }
    : {
        readonly cursor?: string | undefined;
        readonly direction?: "forward" | "backward" | undefined;
      });

interface ExportOptions {
  /** The maximum number of rows. */
  readonly limit?: number | undefined;
  /** The id of a row: only rows after it. */
  readonly after?: string | undefined;
}

interface GetOptions<Path extends string> extends FieldsOption<Path> {
  /** Reads a deleted row, which can be restored. */
  readonly deleted?: boolean | undefined;
}

interface CollectionMethods<A extends Api, R extends ResourceTypes> {
  /**
   * Reads a page.
   *
   * @throws PorticoError `invalid_cursor` for a cursor of another list
   * @example
   * const { data, pagination } = await client.posts.list({ status: "draft", sort: "-createdAt", limit: 20 });
   */
  list<const Path extends FieldPath<A, R> = never>(
    query?: ListOptions<R, Path>,
    options?: RequestOptions,
  ): Promise<Page<Selected<A, R, Path>>>;
  /**
   * Yields the rows of all pages. A page has 100 rows unless `limit` says otherwise.
   *
   * @example
   * for await (const post of client.posts.all({ status: "draft" })) console.log(post.title);
   */
  all<const Path extends FieldPath<A, R> = never>(
    query?: ListOptions<R, Path>,
    options?: RequestOptions,
  ): AsyncIterableIterator<Selected<A, R, Path>>;
  /**
   * Creates a row. It sends an `Idempotency-Key`, so a repeated request creates one row.
   *
   * @returns the row, with the values that are shown only once
   * @throws PorticoError `validation_error`, whose `details` name the fields
   * @example
   * const post = await client.posts.create({ title: "Hello" });
   */
  create(input: R["create"], options?: RequestOptions): Promise<R["row"] & R["once"]>;
}

interface RowMethods<A extends Api, R extends ResourceTypes> {
  /**
   * Reads a row.
   *
   * @throws PorticoError `not_found` if it does not exist, or the caller may not see it
   */
  get<const Path extends FieldPath<A, R> = never>(
    id: string,
    query?: GetOptions<Path>,
    options?: RequestOptions,
  ): Promise<Selected<A, R, Path>>;
  /** Replaces a row (PUT): fields that the input omits get their defaults. */
  replace(id: string, input: R["create"], options?: RequestOptions): Promise<R["row"]>;
  /**
   * Changes the fields that `changes` names (PATCH).
   *
   * @throws PorticoError `precondition_failed` if the row no longer has the entity tag `options.ifMatch`
   */
  update(id: string, changes: R["update"], options?: RequestOptions): Promise<R["row"]>;
  /** @throws PorticoError `conflict` if other rows refer to the row and do not allow its deletion */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

interface BulkMethods<A extends Api, R extends ResourceTypes> {
  /**
   * Yields all rows of a consistent snapshot of the database, at the pace of the loop. If the connection breaks, it
   * continues after the last row, in a later snapshot.
   */
  export<const Path extends FieldPath<A, R> = never>(
    query?: RowsOptions<R, Path> & ExportOptions,
    options?: RequestOptions,
  ): AsyncIterableIterator<Selected<A, R, Path>>;
  /**
   * Creates a row for each input. Inputs of a nested collection name their parent: `{ postId, body }`.
   *
   * @returns how many were created, updated and refused, and the first errors with the numbers of their lines
   */
  import(rows: Iterable<object>, query?: ImportOptions, options?: RequestOptions): Promise<ImportResult>;
}

export interface ImportOptions {
  readonly mode?: "upsert" | undefined;
  /** The unique field by which an upsert finds rows. */
  readonly by?: string | undefined;
  readonly atomic?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly readOnly?: "ignore" | undefined;
}

export interface ImportResult {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly {
    readonly line: number;
    readonly error: { readonly code: string; readonly message: string };
  }[];
}

type OperationOf<Method> = Method extends "all" | "export"
  ? "list"
  : Method extends "import"
    ? "create"
    : Method;

/** The methods whose operations the resource has. */
type Having<R extends ResourceTypes, Methods> = {
  readonly [Method in keyof Methods as OperationOf<Method> extends R["operations"]
    ? Method
    : never]: Methods[Method];
};

/** Of the server's own resources, only users are exported, and none are imported. */
type Bulk<Plural, Methods> = Plural extends "users"
  ? Omit<Methods, "import">
  : Plural extends keyof OwnResources
    ? unknown
    : Methods;

type RowActions<R extends ResourceTypes> = {
  readonly [Name in keyof R["actions"]]: R["actions"][Name] extends ActionTypes
    ? (id: string, ...rest: InputOf<R["actions"][Name]["input"]>) => Promise<R["actions"][Name]["output"]>
    : never;
};
type CollectionActions<R extends ResourceTypes> = {
  readonly [Name in keyof R["collectionActions"]]: R["collectionActions"][Name] extends ActionTypes
    ? (
        ...rest: InputOf<R["collectionActions"][Name]["input"]>
      ) => Promise<R["collectionActions"][Name]["output"]>
    : never;
};
/** An input without required members may be left out. */
type InputOf<Input> = object extends Input
  ? [input?: Input, options?: RequestOptions]
  : [input: Input, options?: RequestOptions];

/** A collection. A call with the id of a row returns the collections under that row. */
type Collection<A extends Api, Plural> =
  Described<A, Plural> extends infer R extends ResourceTypes
    ? ([R["parent"]] extends [never] ? Having<R, CollectionMethods<A, R>> & CollectionActions<R> : unknown) &
        Having<R, RowMethods<A, R>> &
        RowActions<R> &
        Having<R, Bulk<Plural, BulkMethods<A, R>>> &
        ((id: string) => Nested<A, Plural>)
    : never;

/** The collections under a row. */
type Nested<A extends Api, Container> = {
  readonly [Plural in Names<A> as Container extends
    | Described<A, Plural>["parent"]
    | Described<A, Plural>["nestedUnder"]
    ? Plural
    : never]: NestedCollection<A, Described<A, Plural>, Container>;
};

type NestedCollection<A extends Api, R extends ResourceTypes, Container> = Container extends R["parent"]
  ? Having<R, CollectionMethods<A, R>> & CollectionActions<R>
  : Pick<CollectionMethods<A, R>, "list" | "all"> & {
      /** Deletes all rows of the collection. */
      deleteAll(options?: RequestOptions): Promise<void>;
    };

export interface Me {
  readonly kind: "key" | "user" | "client" | "anonymous";
  readonly tenant: { readonly id: string; readonly name: string };
  readonly user:
    | (Readonly<Record<string, unknown>> & {
        readonly id: string;
        readonly name: string;
        readonly email: string;
        readonly role: string;
      })
    | null;
  readonly scopes: readonly string[];
  readonly rateLimit: { readonly limit: number; readonly windowSeconds: number } | null;
}

/** The options of a call of any path. */
interface PathOptions extends RequestOptions {
  readonly parameters?: object | undefined;
  readonly query?: object | undefined;
  readonly input?: object | undefined;
}

/** The options of a call of a declared route. Members without required values may be left out. */
type RouteOptions<R extends CalledRoute> = Sent<"parameters", R["parameters"]> &
  Sent<"query", R["query"]> &
  Sent<"input", R["input"]> &
  RequestOptions;
type Sent<Name extends string, Value> = object extends Value
  ? { readonly [Key in Name]?: Value | undefined }
  : { readonly [Key in Name]: Value };
type RouteArguments<R> = R extends CalledRoute
  ? object extends RouteOptions<R>
    ? [options?: RouteOptions<R>]
    : [options: RouteOptions<R>]
  : [options?: PathOptions];
type RouteAnswer<R> = R extends CalledRoute ? R["answer"] : unknown;

interface Methods<A extends Api, Events> {
  /** Describes the credential, and what it may do. */
  me(options?: RequestOptions): Promise<Me>;
  /**
   * Calls a route of the app, or any other path.
   *
   * @example
   * const { openIssues } = await client.request("GET /v1/stats", { query: { overdueOn: "2026-12-01" } });
   */
  request<const Path extends (keyof A["routes"] & string) | (string & {})>(
    path: Path,
    ...options: RouteArguments<Path extends keyof A["routes"] ? A["routes"][Path] : unknown>
  ): Promise<RouteAnswer<Path extends keyof A["routes"] ? A["routes"][Path] : unknown>>;
  /**
   * Yields events as they happen, each once and in order, also if the connection is lost meanwhile. Ends when the loop
   * is left or `signal` is aborted.
   *
   * @throws PorticoError if it cannot be continued, for example because the credential was revoked
   * @example
   * for await (const { data: post } of client.subscribe("post.created", { filter: { status: "draft" } })) show(post);
   */
  subscribe<
    Type extends keyof Events & string,
    const Path extends FieldPath<A, Described<A, Events[Type]>> = never,
  >(
    type: Type,
    options?: SubscribeOptions<Described<A, Events[Type]>, Path>,
  ): AsyncIterableIterator<Event<Type, Selected<A, Described<A, Events[Type]>, Path>>>;
  /** The log of events. */
  readonly events: {
    list(query?: EventQuery, options?: RequestOptions): Promise<Page<LoggedEvent>>;
    all(query?: EventQuery, options?: RequestOptions): AsyncIterableIterator<LoggedEvent>;
    get(id: string, query?: object, options?: RequestOptions): Promise<LoggedEvent>;
    export(
      query?: Omit<EventQuery, "cursor" | "sort">,
      options?: RequestOptions,
    ): AsyncIterableIterator<LoggedEvent>;
  };
}

/** A client of an API. Its members are the collections, by their plurals, and the methods above. */
export type ClientOf<A extends Api> = Methods<A, EventTypes<A>> & {
  readonly [Plural in Exclude<Names<A>, keyof Methods<A, unknown>>]: Collection<A, Plural>;
};
