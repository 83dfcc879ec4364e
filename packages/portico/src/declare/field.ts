// The kinds of fields that a declaration can hold. A field is data: what may stand in it, and whether
// a caller must give it. The type parameters carry the same facts to the compiler.

import type { Resource } from "./resource.ts";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Whether a caller must give a field: always, only if they wish to, possibly as null, or never. */
export type Presence = "required" | "defaulted" | "optional" | "readOnly" | "internal";

interface Options {
  /** May be left out and may be null. */
  readonly optional?: boolean;
  /** Given by hooks only; callers read it, and are told `read_only` when they send it. */
  readonly readOnly?: boolean;
  /** Given by hooks only and never part of an answer. */
  readonly internal?: boolean;
  /** Given when the row is made and never changed: later, callers are told `read_only`. */
  readonly immutable?: boolean;
  /** Written beside all changes, such as a last use: entity tags pass over it. */
  readonly excludeFromETag?: boolean;
  /** One line for the documentation. */
  readonly description?: string;
  /** Marks the field as on its way out: requests that name it are answered with `Deprecation`. */
  readonly deprecated?: Deprecation;
}

/** When something was deprecated and, if known, when it will be gone; both ISO dates. RFC 9745, RFC 8594. */
export interface Deprecation {
  readonly since: string;
  readonly sunset?: string;
}

/** A constant, or what is worked out from the other fields of the input, for example a slug from a name. */
type Default<Value> = Value | ((input: Readonly<Record<string, unknown>>) => Value);

export interface TextOptions extends Options {
  /** Fewest and most characters (Unicode code points). */
  readonly min?: number;
  readonly max?: number;
  readonly default?: Default<string>;
  /** No two rows of a tenant, or of all tenants, hold the same text. */
  readonly unique?: boolean | "all tenants";
  readonly format?: "email" | "uri";
  /** A regular expression that the whole text must match. */
  readonly pattern?: RegExp;
}
export interface NumberOptions extends Options {
  readonly min?: number;
  readonly max?: number;
  readonly default?: Default<number>;
}
export interface BooleanOptions extends Options {
  readonly default?: Default<boolean>;
}
export interface TimestampOptions extends Options {
  /** An ISO 8601 date and time, or `"now"`. */
  readonly default?: string;
}
export interface ChoiceOptions<Value extends string> extends Options {
  readonly default?: Value;
}
export interface JsonOptions extends Options {
  readonly default?: Default<unknown>;
  /** JSON Schema that every value keeps to. */
  readonly schema?: JsonSchema;
}
export interface ListOptions<Item = unknown> extends Options {
  /** Fewest and most items; 100 at most, when `max` is left out. */
  readonly min?: number;
  readonly max?: number;
  /** No item may stand in the list twice. */
  readonly uniqueItems?: boolean;
  readonly default?: Default<readonly Item[]>;
}
export interface ComputedStatusOptions extends Options {
  readonly readOnly: true;
}

/** A state that begins at the moment in a timestamp field, or so many seconds before it. */
export interface StatusRule<Status extends string = string> {
  readonly status: Status;
  readonly from: string;
  readonly secondsBefore?: number;
}
export interface IdOptions extends Options {
  readonly unique?: boolean;
}
export interface BelongsToOptions extends Options {
  /** `"caller"`: the user in whose name the request comes. */
  readonly default?: "caller";
  /** `"delete"`: the row goes with the one it refers to, through its own hooks. Otherwise that one cannot go. */
  readonly onDelete?: "cascade";
}

export type FieldShape =
  | { readonly kind: "text"; readonly options: TextOptions }
  | { readonly kind: "integer"; readonly options: NumberOptions }
  | { readonly kind: "number"; readonly options: NumberOptions }
  | { readonly kind: "boolean"; readonly options: BooleanOptions }
  | { readonly kind: "timestamp"; readonly options: TimestampOptions }
  | { readonly kind: "choice"; readonly options: ChoiceOptions<string>; readonly choices: readonly string[] }
  | { readonly kind: "json"; readonly options: JsonOptions }
  | { readonly kind: "list"; readonly options: ListOptions; readonly item: ItemShape }
  | { readonly kind: "id"; readonly options: IdOptions }
  | {
      readonly kind: "computedStatus";
      readonly options: ComputedStatusOptions;
      /** In the order in which they are looked at; the last one has no rule. */
      readonly choices: readonly string[];
      readonly rules: readonly StatusRule[];
    }
  | { readonly kind: "belongsTo"; readonly options: BelongsToOptions; readonly target: () => Resource };

/** The kinds that a list can hold. */
export const itemKinds = ["text", "integer", "number", "boolean", "choice", "id"] as const;
type ItemKind = (typeof itemKinds)[number];
export type ItemShape = Extract<FieldShape, { kind: ItemKind }>;

/** Items of a list whose declaration names no `max`. */
export const standardMaxItems = 100;

declare const inferred: unique symbol;

/** A field whose values are of type `Value`. The symbol exists for the compiler only. */
export type Field<
  Value = unknown,
  Presented extends Presence = Presence,
  Kind extends string = string,
> = Extract<FieldShape, { kind: Kind }> & { readonly [inferred]?: readonly [Value, Presented] };

type PresenceOf<O> = O extends { internal: true }
  ? "internal"
  : O extends { readOnly: true }
    ? "readOnly"
    : O extends { optional: true }
      ? "optional"
      : O extends { default: unknown }
        ? "defaulted"
        : "required";

type ValueOf<Value, O> = O extends { optional: true } ? Value | null : Value;

/** Options of a kind and no others: a misspelt one does not compile. */
type Only<O, Allowed> = O & { readonly [Name in Exclude<keyof O, keyof Allowed>]: never };

const commonOptions = [
  "optional",
  "readOnly",
  "internal",
  "immutable",
  "excludeFromETag",
  "description",
  "deprecated",
];

/** The options of each kind, for those who do not compile before they start. */
export const optionNames: Readonly<Record<FieldShape["kind"], readonly string[]>> = {
  text: [...commonOptions, "min", "max", "default", "unique", "format", "pattern"],
  integer: [...commonOptions, "min", "max", "default"],
  number: [...commonOptions, "min", "max", "default"],
  boolean: [...commonOptions, "default"],
  timestamp: [...commonOptions, "default"],
  choice: [...commonOptions, "default"],
  json: [...commonOptions, "default", "schema"],
  list: [...commonOptions, "min", "max", "uniqueItems", "default"],
  id: [...commonOptions, "unique"],
  computedStatus: ["readOnly", "description", "deprecated"],
  belongsTo: [...commonOptions, "default", "onDelete"],
};

/** Text. `text({ min: 1, max: 200 })` */
export function text<const O extends TextOptions>(
  options?: Only<O, TextOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "text"> {
  return Object.freeze({ kind: "text", options: options ?? {} });
}

/** A whole number that JavaScript holds exactly. `integer({ min: 0, default: 0 })` */
export function integer<const O extends NumberOptions>(
  options?: Only<O, NumberOptions>,
): Field<ValueOf<number, O>, PresenceOf<O>, "integer"> {
  return Object.freeze({ kind: "integer", options: options ?? {} });
}

/** A number with double precision. `number({ min: 0 })` */
export function number<const O extends NumberOptions>(
  options?: Only<O, NumberOptions>,
): Field<ValueOf<number, O>, PresenceOf<O>, "number"> {
  return Object.freeze({ kind: "number", options: options ?? {} });
}

/** True or false. `boolean({ default: false })` */
export function boolean<const O extends BooleanOptions>(
  options?: Only<O, BooleanOptions>,
): Field<ValueOf<boolean, O>, PresenceOf<O>, "boolean"> {
  return Object.freeze({ kind: "boolean", options: options ?? {} });
}

/** A moment, kept in UTC to the millisecond: `2026-11-21T09:30:00.000Z`. `timestamp({ optional: true })` */
export function timestamp<const O extends TimestampOptions>(
  options?: Only<O, TimestampOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "timestamp"> {
  return Object.freeze({ kind: "timestamp", options: options ?? {} });
}

/** One of a few words. `choice(["draft", "published"], { default: "draft" })` */
export function choice<const Value extends string, const O extends ChoiceOptions<Value>>(
  choices: readonly Value[],
  options?: Only<O, ChoiceOptions<Value>>,
): Field<ValueOf<Value, O>, PresenceOf<O>, "choice"> {
  return Object.freeze({ kind: "choice", options: options ?? {}, choices });
}

/** Any JSON value, stored and returned as it is, or one that keeps to a schema. `json({ default: {} })` */
export function json<const O extends JsonOptions>(
  options?: Only<O, JsonOptions>,
): Field<ValueOf<unknown, O>, PresenceOf<O>, "json"> {
  return Object.freeze({ kind: "json", options: options ?? {} });
}

/**
 * A list of values of one kind: a JSON array in REST, `[String!]!` in GraphQL. A change replaces the whole list.
 *
 * @param item what each value is; it takes no option that says when a value is given, such as `optional`
 * @example tags: list(text({ min: 1, max: 50 }), { max: 20, uniqueItems: true, default: [] })
 */
export function list<Item, const O extends ListOptions<Item>>(
  item: Field<Item, "required", ItemKind>,
  options?: Only<O, ListOptions>,
): Field<ValueOf<readonly Item[], O>, PresenceOf<O>, "list"> {
  return Object.freeze({ kind: "list", options: options ?? {}, item });
}

/** Whether values of a field are kept as JSON. */
export function isJson({ kind }: Pick<FieldShape, "kind">): boolean {
  return kind === "json" || kind === "list";
}

/**
 * A status computed from timestamps of the row: that of the first rule whose time has come, or
 * `fallback`. It is computed for every response and never stored.
 *
 * @example
 * status: computedStatus("active", [
 *   { status: "revoked", from: "revokedAt" },
 *   { status: "expired", from: "expiresAt" },
 *   { status: "expiring_soon", from: "expiresAt", secondsBefore: 7 * 86_400 },
 * ])
 */
export function computedStatus<const Status extends string, const Fallback extends string>(
  fallback: Fallback,
  rules: readonly StatusRule<Status>[],
): Field<Status | Fallback, "readOnly", "computedStatus"> {
  const choices = [...rules.map((rule) => rule.status), fallback];
  return Object.freeze({ kind: "computedStatus", options: { readOnly: true as const }, choices, rules });
}

/** An identifier from elsewhere: 1 to 255 characters without spaces. `id({ optional: true })` */
export function id<const O extends IdOptions>(
  options?: Only<O, IdOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "id"> {
  return Object.freeze({ kind: "id", options: options ?? {} });
}

/**
 * A reference to another resource: `author: belongsTo(() => users)` is `authorId` in REST and `author { ... }`
 * in GraphQL. Two resources that refer to each other need the type written once: `(): Resource => posts`.
 */
export function belongsTo<const O extends BelongsToOptions>(
  target: () => Resource,
  options?: O,
): Field<ValueOf<string, O>, PresenceOf<O>, "belongsTo"> {
  return Object.freeze({ kind: "belongsTo", options: options ?? {}, target });
}
