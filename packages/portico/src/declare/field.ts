// The kinds of fields of a declaration. A field is data: which values it can have, and whether an input must contain it.
// Its type parameters carry the same facts to the compiler.

import type {
  BelongsToOptions,
  BooleanOptions,
  ChoiceOptions,
  ComputedStatusOptions,
  IdOptions,
  JsonOptions,
  ListOptions,
  NumberOptions,
  StatusRule,
  TextOptions,
  TimestampOptions,
} from "./field-options.ts";
import type { Resource } from "./resource.ts";

/** Whether an input contains a field: it must, it may (with a default), it may (or null), or only hooks set it. */
export type Presence = "required" | "defaulted" | "optional" | "readOnly" | "internal";

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
      /** In the order of the rules; the last one is the fallback, without a rule. */
      readonly choices: readonly string[];
      readonly rules: readonly StatusRule[];
    }
  | { readonly kind: "belongsTo"; readonly options: BelongsToOptions; readonly target: () => Resource };

/** The kinds that a list can hold. */
export const itemKinds = ["text", "integer", "number", "boolean", "choice", "id"] as const;
type ItemKind = (typeof itemKinds)[number];
export type ItemShape = Extract<FieldShape, { kind: ItemKind }>;

/** Maximum number of items of a list without `max`. */
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

/** A point in time in UTC with milliseconds: `2026-11-21T09:30:00.000Z`. `timestamp({ optional: true })` */
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
 * @param item the field of each value; options about its presence, such as `optional`, are not allowed
 * @example tags: list(text({ min: 1, max: 50 }), { max: 20, uniqueItems: true, default: [] })
 */
export function list<Item, const O extends ListOptions<Item>>(
  item: Field<Item, "required", ItemKind>,
  options?: Only<O, ListOptions>,
): Field<ValueOf<readonly Item[], O>, PresenceOf<O>, "list"> {
  return Object.freeze({ kind: "list", options: options ?? {}, item });
}

/** Whether the values of a field are stored as JSON. */
export function isJson({ kind }: Pick<FieldShape, "kind">): boolean {
  return kind === "json" || kind === "list";
}

/**
 * A status computed from timestamps of the row: that of the first rule whose time has passed, otherwise `fallback`. It is
 * computed for each response and never stored.
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

/** An identifier of another system: 1 to 255 characters without spaces. `id({ optional: true })` */
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
