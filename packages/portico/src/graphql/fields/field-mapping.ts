// What a field of the schema means to the server. The schema carries a mapping with each field. Whatever walks a document
// (limits, scopes, the compiler) asks the mapping, so a new kind of field needs no change there.

import type { GraphQLObjectType } from "graphql";
import type { Caller } from "../../declare/caller.ts";
import type { FileValue } from "../../declare/field.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Writes } from "../../engine/writes.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import type { ReadAccess } from "../../model/public.ts";
import type { Member } from "../../query/read.ts";
import type { UrlOfFile } from "../../query/shown-files.ts";
import type { SubscriptionPlan } from "../../subscriptions/plan.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import type { ConnectionPart } from "./connection-text.ts";

/** Coerced arguments of a field. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface FieldMapping {
  /** Maximum number of values: 1, or the limit of a list. */
  readonly maxItems: (args: Arguments) => number;
  /** Maximum number of rows in the result. @param rows the maximum in the selection set of one value */
  readonly cost: (rows: number, args: Arguments) => number;
  /** Maximum length of a value in characters, without its selection set. Short values count as 0. */
  readonly maxLength: number;
  /** What the field requires of the caller. */
  readonly access: (args: Arguments) => ReadAccess | undefined;
  /** Object types that a value can have. By default, all that the type of the field allows. */
  readonly possibleTypes?: (args: Arguments) => readonly GraphQLObjectType[];
  /** What values of a type require: without it they are left out, so that their fields require nothing either. */
  readonly accessOfValues?: (type: GraphQLObjectType) => ReadAccess | undefined;

  /** For mutations: whether the request needs an Idempotency-Key. */
  readonly requiresIdempotencyKey?: boolean;
  /** For fields of root types. */
  readonly compile?: (field: CollectedField) => FieldRunner;
  /** For fields of Subscription. */
  readonly selectEvents?: (field: CollectedField) => EventSelection;
  /** For fields of the types of a connection. */
  readonly part?: ConnectionPart;
  /** For fields of files. */
  readonly fileMember?: keyof FileValue | "url";
  /** For fields of rows. */
  readonly toMember?: (field: CollectedField) => Member;
}

export type RootFieldMapping = FieldMapping & Required<Pick<FieldMapping, "compile">>;
export type RowFieldMapping = FieldMapping & Required<Pick<FieldMapping, "toMember">>;

/** Runs a root field. @returns its value as JSON text */
export type FieldRunner = (context: RunContext) => Promise<string>;

/** What an operation runs with. */
export interface RunContext {
  readonly engine: Engine;
  /** The writes of mutations: those of the engine, or of the transaction that all mutations share. */
  readonly writes: Writes;
  readonly caller: Caller;
  /** The address of a file. */
  readonly fileUrl: UrlOfFile;
  readonly eventLog: Pick<EventLog, "list" | "get">;
  /** Adds values that only the response to a write contains, such as a new API key. */
  readonly addReturnedOnce: (name: string, members: Readonly<Record<string, unknown>>) => void;
  /** The results of introspection fields, which are written before the other fields run. */
  readonly introspected: ReadonlyMap<CollectedField, string>;
}

/** The events that a subscription field selects, and what it selects of their rows. */
export type EventSelection = Pick<SubscriptionPlan, "resource" | "kind" | "id" | "conditions" | "selection">;

/** An object that is not a row. */
export const objectMapping: FieldMapping = {
  maxItems: () => 1,
  cost: (rows) => rows,
  maxLength: 0,
  access: () => undefined,
};

/** One row. */
export const rowMapping: FieldMapping = { ...objectMapping, cost: (rows) => 1 + rows };

/** A list of rows. */
export function listMapping(maxItems: FieldMapping["maxItems"]): FieldMapping {
  return { ...objectMapping, maxItems, cost: (rows, args) => maxItems(args) * (1 + rows) };
}
