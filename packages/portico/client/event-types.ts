// The types of events, and of the options to subscribe to them and to list them.

import type { Api, ResourceTypes } from "./api.ts";
import type { Described, FieldsOption, Names } from "./selection-types.ts";
import type { AnySubscribeOptions } from "./subscription.ts";

export interface Event<Type extends string = string, Row = Readonly<Record<string, unknown>>> {
  /** Pass it in `after` to continue after this event. */
  readonly id: string;
  readonly type: Type;
  /** The row as it was written; of a deletion, as it was before. */
  readonly data: Row;
}

/** `apiKey` -> `api_key` */
type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

type WriteName = "created" | "updated" | "deleted";

/** The plural by the type of an event. */
export type EventTypes<A extends Api> = {
  readonly [Plural in Names<A> as `${SnakeCase<Described<A, Plural>["name"]>}.${WriteName}`]: Plural;
};

export type SubscribeOptions<R extends ResourceTypes, Path extends string> = FieldsOption<Path> &
  Omit<AnySubscribeOptions, "fields" | "filter"> & {
    /** The filters of the list. */
    readonly filter?:
      | {
          readonly [Name in keyof R["filters"] as Name extends `${string}.${string}`
            ? never
            : Name]?: R["filters"][Name];
        }
      | undefined;
  };

/** An event of the log. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

export interface EventQuery {
  readonly type?: string | readonly string[] | undefined;
  readonly resource?: string | readonly string[] | undefined;
  readonly resourceId?: string | readonly string[] | undefined;
  readonly createdAt?:
    | {
        readonly gte?: string | undefined;
        readonly gt?: string | undefined;
        readonly lte?: string | undefined;
        readonly lt?: string | undefined;
      }
    | undefined;
  /** The id of an event: only later ones. */
  readonly after?: string | undefined;
  readonly sort?: "createdAt" | "-createdAt" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}
