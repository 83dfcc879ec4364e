// The declaration of a route: an operation that does not answer with a row of a resource, such as statistics.

import type { Caller } from "./caller.ts";
import type { Deprecation } from "./field-options.ts";
import type { Fields, InputValuesOf, OptionalFieldsOf, RequiredFieldsOf, ValuesOf } from "./record.ts";
import type { Rows } from "./rows.ts";

export const routeMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type RouteMethod = (typeof routeMethods)[number];

/** The method and the path of a route, with its version: `GET /v1/projects/{id}/stats`. */
export type RoutePath = `${RouteMethod} /${string}`;

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The parameters in a path. Those that are not declared are text. */
type ParametersOf<Path, P extends Fields> = ValuesOf<P> & {
  readonly [Name in Exclude<NamesIn<Path>, keyof ValuesOf<P>>]: string;
};

/** What a handler returns: nothing, if the route declares no answer. */
type AnswerOf<A extends Fields> = keyof A extends never
  ? // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is a handler, too.
    void | undefined
  : RequiredFieldsOf<A> & Partial<OptionalFieldsOf<A>>;

type WriteName = "create" | "update" | "delete" | "updateMany" | "deleteMany";

/** The operations of `Rows` that only read. */
export type ReadRows = Omit<Rows, WriteName | "unrestricted"> & {
  /** The same operations without policies. */
  readonly unrestricted: ReadRows;
};

/** What the handler of a route is called with. */
export interface RouteContext<
  Path extends string = string,
  P extends Fields = Fields,
  Q extends Fields = Fields,
  I extends Fields = Fields,
> {
  readonly caller: Caller;
  /** The time of the request, which becomes `createdAt` or `updatedAt` of what it writes. */
  readonly now: string;
  /** The parameters in the path. */
  readonly parameters: ParametersOf<Path, P>;
  /** The parameters of the query string. */
  readonly query: ValuesOf<Q>;
  /** The body. */
  readonly input: ValuesOf<I>;
  /**
   * The rows of the tenant that the policies of the caller allow. GET only reads; what the other methods write is one
   * transaction, which is undone if the handler throws.
   */
  readonly rows: Path extends `GET ${string}` ? ReadRows : Rows;
}

/** Who may call a route: a credential with a scope (null for any secret credential), or everybody. */
type RouteAccess =
  | { readonly scope: string | null; readonly public?: false }
  | { readonly public: true; readonly scope?: never };

interface RouteOptions<P extends Fields, Q extends Fields, I extends Fields, A extends Fields> {
  /** Fields of the parameters in the path, if they are not plain text: `{ year: integer() }` */
  readonly parameters?: P;
  /** Fields of the query string. */
  readonly query?: Q;
  /** Fields of the request body; for POST, PUT and PATCH. */
  readonly input?: I;
  /** Fields of the answer. A member that is not declared is never sent. Without fields the answer is empty (204). */
  readonly answer?: A;
  /** The status of the answer, from 200 to 299. By default 200, and 204 without an answer. */
  readonly status?: number;
  /** `"required"` refuses POST and PATCH without the header `Idempotency-Key`. */
  readonly idempotencyKey?: "required";
  /** `false`: MCP does not offer it as a tool. */
  readonly mcp?: boolean;
  readonly description?: string;
  readonly deprecated?: Deprecation;
}

type NoFields = Readonly<Record<never, never>>;

/** The types of a route, which its handler knows and the server does not. */
type LooseContext = Omit<RouteContext, "parameters" | "query" | "input" | "rows"> & {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly rows: Rows | ReadRows;
};
export type LooseRouteHandler = (context: LooseContext) => unknown;

declare const types: unique symbol;

/** What callers of a route send and get. */
export interface RouteTypes<
  Path = unknown,
  P extends Fields = Fields,
  Q extends Fields = Fields,
  I extends Fields = Fields,
  A extends Fields = Fields,
> {
  readonly parameters: ParametersOf<Path, P>;
  readonly query: InputValuesOf<Q>;
  readonly input: InputValuesOf<I>;
  readonly answer: keyof A extends never ? undefined : ValuesOf<A>;
}

/** A declared route. The model validates it. Its type contains those of its parameters, input and answer. */
export interface Route<Path extends string = string, Types = unknown> {
  /** As it was written: `GET /v1/stats` */
  readonly path: Path;
  /** Exists for the compiler only. */
  readonly [types]?: Types;
  readonly declaration: RouteOptions<Fields, Fields, Fields, Fields> & {
    readonly scope?: string | null;
    readonly public?: boolean;
  };
  readonly handler: LooseRouteHandler;
}

/**
 * Declares a route, to be listed in `routes` of the app. It is served under its version, and without a version if that
 * is the current one. The declaration is validated when the server starts.
 *
 * @param path method, version and path; a parameter is in braces
 * @param handler returns the answer within 10 seconds, or throws a `Problem`. Any other error becomes 500
 *   `internal_error`. The writes of POST, PUT, PATCH and DELETE are one transaction
 * @example
 * route(
 *   "GET /v1/projects/{id}/stats",
 *   { scope: "projects:read", answer: { name: text() } },
 *   async ({ rows, parameters }) => {
 *     const project = await rows.get(projects, parameters.id);
 *     if (!project) throw new Problem("not_found");
 *     return { name: project.name };
 *   },
 * );
 */
export function route<
  const Path extends RoutePath,
  P extends Fields = NoFields,
  Q extends Fields = NoFields,
  I extends Fields = NoFields,
  A extends Fields = NoFields,
>(
  path: Path,
  declaration: RouteOptions<P, Q, I, A> & RouteAccess,
  handler: (context: RouteContext<Path, P, Q, I>) => AnswerOf<A> | Promise<AnswerOf<A>>,
): Route<Path, RouteTypes<Path, P, Q, I, A>> {
  return Object.freeze({
    path,
    declaration: Object.freeze({ ...declaration }) as Route["declaration"],
    // The types were checked at this call. The server calls it with the values that they describe.
    handler: handler as unknown as LooseRouteHandler,
  });
}
