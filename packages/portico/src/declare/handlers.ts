// Handlers of events: code of a declaration that runs after a write was committed.

import type { RecordOf } from "./record.ts";
import type { Resource } from "./resource.ts";
import type { Rows } from "./rows.ts";

type UnknownRow = Readonly<Record<string, unknown>>;

/** An event as webhooks have it, too. */
export interface HandledEvent<Row = UnknownRow> {
  /** The same in every attempt, so that a handler can recognize an event that it has handled. */
  readonly id: string;
  /** `issue.updated` */
  readonly type: string;
  /** When the write was made. */
  readonly timestamp: string;
  readonly tenantId: string;
  /** The row after the write; for `deleted`, before it. Without internal fields. */
  readonly data: Row;
}

/** What code gets that runs apart from any request: handlers and schedules. */
export interface BackgroundContext {
  /** The time of this attempt. */
  readonly now: string;
  /** The operations on rows of one tenant, without scopes and policies. Each is a transaction of its own. */
  readonly rows: Rows;
  /**
   * Runs several operations in one transaction: all of them or none. It may run again if it conflicts with another one.
   * Await nothing else in it: on SQLite, all other writes wait meanwhile.
   */
  readonly transaction: <Result>(work: (rows: Rows) => Promise<Result>) => Promise<Result>;
  /** Aborted when the time is over or the server stops: `fetch(url, { signal })`. From then on, `rows` refuses to work. */
  readonly signal: AbortSignal;
}

export interface HandlerContext<Row = UnknownRow> extends BackgroundContext {
  readonly event: HandledEvent<Row>;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** Handles an event. It runs again if it throws, or if the server dies before it has ended. */
export type Handler<Row = UnknownRow> = (context: HandlerContext<Row>) => unknown;

/** One handler, or several by name, each with attempts of its own. */
type OneOrNamed<Row> = Handler<Row> | Readonly<Record<string, Handler<Row>>>;

type Action = "created" | "updated" | "deleted" | "*";

/** `apiKey` -> `api_key` */
type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

/** The server's own resources that record events. */
type OwnName = "user" | "invitation" | "apiKey" | "oauthClient" | "webhookEndpoint";

/**
 * Handlers by the events that they handle: `issue.updated`, all of a resource (`issue.*`), or all (`*`).
 *
 * @example
 * on: { "issue.updated": async ({ event, rows }) => { await rows.create(notices, { text: event.data.title }); } }
 */
type EventHandlers<R extends Resource> = {
  readonly [Each in R as `${SnakeCase<Each["name"]>}.${Action}`]?: OneOrNamed<RecordOf<Each>>;
} & {
  readonly [Name in Exclude<OwnName, R["name"]> as `${SnakeCase<Name>}.${Action}`]?: OneOrNamed<UnknownRow>;
} & { readonly "*"?: OneOrNamed<UnknownRow> };

/** The handlers of an app with these resources. As a conditional type, it gives the parameters of handlers their types. */
export type HandlersOf<Resources> = Resources extends readonly (infer Each extends Resource)[]
  ? EventHandlers<Each>
  : never;

/** Handlers whose names are checked when the model is known. */
export type LooseHandlers = Readonly<Record<string, OneOrNamed<UnknownRow> | undefined>>;
