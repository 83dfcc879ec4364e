// The kinds of fields of a declaration. A field is data: which values it can have, and whether an input must contain it.
// Its type parameters carry the same facts to the compiler. Each kind has one function, so the file is longer than most.

import type {
  BelongsToOptions,
  BooleanOptions,
  ChoiceOptions,
  ComputedStatusOptions,
  CountOptions,
  DateOptions,
  DecimalOptions,
  FileOptions,
  IdOptions,
  JsonOptions,
  ListOptions,
  ManyToManyOptions,
  NumberOptions,
  StatusRule,
  TextOptions,
  TimestampOptions,
} from "./field-options.ts";
import type { Resource } from "./resource.ts";

/**
 * Whether an input contains a field: it must, it may (with a default), it may (or null), or only hooks set it. No
 * input contains a count: it is computed for responses that select it, or kept in the row.
 */
export type Presence = "required" | "defaulted" | "optional" | "readOnly" | "internal" | "counted" | "kept";

export type FieldShape =
  | { readonly kind: "text"; readonly options: TextOptions }
  | { readonly kind: "integer"; readonly options: NumberOptions }
  | { readonly kind: "number"; readonly options: NumberOptions }
  | { readonly kind: "decimal"; readonly options: DecimalOptions }
  | { readonly kind: "boolean"; readonly options: BooleanOptions }
  | { readonly kind: "timestamp"; readonly options: TimestampOptions }
  | { readonly kind: "date"; readonly options: DateOptions }
  | { readonly kind: "choice"; readonly options: ChoiceOptions<string>; readonly choices: readonly string[] }
  | { readonly kind: "json"; readonly options: JsonOptions }
  | { readonly kind: "list"; readonly options: ListOptions; readonly item: ItemShape }
  | { readonly kind: "file"; readonly options: FileOptions }
  | { readonly kind: "id"; readonly options: IdOptions }
  | {
      readonly kind: "computedStatus";
      readonly options: ComputedStatusOptions;
      /** In the order of the rules; the last one is the fallback, without a rule. */
      readonly choices: readonly string[];
      readonly rules: readonly StatusRule[];
    }
  | { readonly kind: "belongsTo"; readonly options: BelongsToOptions; readonly target: () => Resource }
  | {
      readonly kind: "manyToMany";
      readonly options: ManyToManyOptions;
      readonly target: () => Resource;
      /** The name of one of the rows, if it is declared. */
      readonly singular?: string | undefined;
    }
  | { readonly kind: "count"; readonly options: CountOptions; readonly of: () => unknown };

/** The kinds that a list can hold. */
export const itemKinds = ["text", "integer", "number", "boolean", "choice", "id", "date"] as const;
type ItemKind = (typeof itemKinds)[number];
export type ItemShape = Extract<FieldShape, { kind: ItemKind }>;

/** Maximum number of items of a list without `max`. */
export const standardMaxItems = 100;

/** The name of the resource that a reference leads to; `string` where the type is written as `Resource`. */
export interface RefersTo<Name extends string> {
  readonly "~refersTo"?: Name;
}

/**
 * A field whose values are of type `Value`. The member `~inferred` exists for the compiler only; declaration files could
 * not name a symbol.
 */
export type Field<
  Value = unknown,
  Presented extends Presence = Presence,
  Kind extends string = string,
> = Extract<FieldShape, { kind: Kind }> & { readonly "~inferred"?: readonly [Value, Presented] };

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

/**
 * Text. Its length is counted in Unicode code points.
 *
 * @example title: text({ min: 1, max: 200 })
 */
export function text<const O extends TextOptions>(
  options?: Only<O, TextOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "text"> {
  return Object.freeze({ kind: "text", options: options ?? {} });
}

/**
 * A whole number that JavaScript holds exactly: from -(2^53 - 1) to 2^53 - 1.
 *
 * @example points: integer({ min: 0, default: 0 })
 */
export function integer<const O extends NumberOptions>(
  options?: Only<O, NumberOptions>,
): Field<ValueOf<number, O>, PresenceOf<O>, "integer"> {
  return Object.freeze({ kind: "integer", options: options ?? {} });
}

/**
 * A number with double precision (IEEE 754). For amounts of money, use `decimal`.
 *
 * @example latitude: number({ min: -90, max: 90 })
 */
export function number<const O extends NumberOptions>(
  options?: Only<O, NumberOptions>,
): Field<ValueOf<number, O>, PresenceOf<O>, "number"> {
  return Object.freeze({ kind: "number", options: options ?? {} });
}

/**
 * An exact number, such as an amount of money: a string in JSON, `"12.50"`, always with `scale` digits after the point.
 * It is compared and sorted as a number.
 *
 * @param options `precision` is the total number of digits, at most 18; `min`, `max` and `default` are strings too
 * @example price: decimal({ precision: 12, scale: 2, min: "0" })
 */
export function decimal<const O extends DecimalOptions>(
  options: Only<O, DecimalOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "decimal"> {
  return Object.freeze({ kind: "decimal", options });
}

/**
 * True or false.
 *
 * @example isPinned: boolean({ default: false })
 */
export function boolean<const O extends BooleanOptions>(
  options?: Only<O, BooleanOptions>,
): Field<ValueOf<boolean, O>, PresenceOf<O>, "boolean"> {
  return Object.freeze({ kind: "boolean", options: options ?? {} });
}

/**
 * A point in time, shown in UTC with milliseconds: `2026-11-21T09:30:00.000Z`. Bodies may have any offset (RFC 3339,
 * section 5.6).
 *
 * @example dueAt: timestamp({ optional: true })
 */
export function timestamp<const O extends TimestampOptions>(
  options?: Only<O, TimestampOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "timestamp"> {
  return Object.freeze({ kind: "timestamp", options: options ?? {} });
}

/**
 * A calendar day without a time: `2026-11-21` (RFC 3339, `full-date`).
 *
 * @example birthday: date({ optional: true })
 */
export function date<const O extends DateOptions>(
  options?: Only<O, DateOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "date"> {
  return Object.freeze({ kind: "date", options: options ?? {} });
}

/**
 * One of the given words. With `ordered: true`, values are compared and sorted in the order of the list.
 *
 * @example status: choice(["draft", "published"], { default: "draft" })
 * @example priority: choice(["low", "medium", "high"], { ordered: true, default: "low" })
 */
export function choice<const Value extends string, const O extends ChoiceOptions<Value>>(
  choices: readonly Value[],
  options?: Only<O, ChoiceOptions<Value>>,
): Field<ValueOf<Value, O>, PresenceOf<O>, "choice"> {
  return Object.freeze({ kind: "choice", options: options ?? {}, choices });
}

/**
 * Any JSON value, stored and returned as it is. With `schema`, values must match a JSON Schema (draft 2020-12).
 *
 * @example meta: json({ default: {} })
 */
export function json<const O extends JsonOptions>(
  options?: Only<O, JsonOptions>,
): Field<ValueOf<unknown, O>, PresenceOf<O>, "json"> {
  return Object.freeze({ kind: "json", options: options ?? {} });
}

/**
 * A list of values of one kind: a JSON array in REST, `[String!]!` in GraphQL. A write replaces the whole list.
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

/** A file as a row has it. Responses add its address, `url`. */
export interface FileValue {
  readonly id: string;
  readonly name: string;
  /** Its media type: `image/png`. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
}

/**
 * A file. Its content is stored outside the database. In a body, the value is the id of an upload, or of the file that
 * the row already has; in a response, it is `{ id, name, type, size, url }`.
 *
 * @param options `max` is a number of bytes, or a string with `KB`, `MB` or `GB` (10^3, 10^6, 10^9 bytes)
 * @example attachment: file({ max: "10 MB", types: ["image/*", "application/pdf"], optional: true })
 */
export function file<const O extends FileOptions>(
  options?: Only<O, FileOptions>,
): Field<ValueOf<FileValue, O>, PresenceOf<O>, "file"> {
  return Object.freeze({ kind: "file", options: options ?? {} });
}

/** The choices of a field in their order, smallest first; undefined for a field that has no such order. */
export function orderedChoices(field: Pick<FieldShape, "kind">): readonly string[] | undefined {
  // The kind tells the shape.
  const shape = field as FieldShape;
  return shape.kind === "choice" && shape.options.ordered ? shape.choices : undefined;
}

/** Whether the values of a field are stored as JSON. */
export function isJson({ kind }: Pick<FieldShape, "kind">): boolean {
  return kind === "json" || kind === "list" || kind === "manyToMany" || kind === "file";
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

/**
 * An identifier of another system: 1 to 255 characters without spaces.
 *
 * @example stripeCustomer: id({ optional: true, unique: true })
 */
export function id<const O extends IdOptions>(
  options?: Only<O, IdOptions>,
): Field<ValueOf<string, O>, PresenceOf<O>, "id"> {
  return Object.freeze({ kind: "id", options: options ?? {} });
}

const emptySet: readonly [] = [];

/**
 * References to any number of rows of another resource, as a set: `labels: manyToMany(() => labels)` is `labelIds` in
 * REST and `labels { ... }` in GraphQL. A write replaces the whole set. A row that is deleted is removed from the sets.
 *
 * @param target returns the resource, which may be declared later in the file
 * @example labels: manyToMany(() => labels, { max: 20 })
 */
export function manyToMany<const O extends ManyToManyOptions, Target extends Resource = Resource>(
  target: () => Target,
  options?: Only<O, ManyToManyOptions>,
): Field<readonly string[], PresenceOf<O & { default: [] }>, "manyToMany"> & {
  readonly singular: O extends { singular: infer Singular extends string } ? Singular : undefined;
} & RefersTo<Target["name"]> {
  const singular = options?.singular as never;
  return Object.freeze({ kind: "manyToMany", options: { default: emptySet, ...options }, target, singular });
}

/**
 * A reference to another resource: `author: belongsTo(() => users)` is `authorId` in REST and `author { ... }`
 * in GraphQL. If two resources refer to each other, write the type in one of them: `(): Resource => posts`.
 *
 * @param target returns the resource, which may be declared later in the file
 * @example author: belongsTo(() => users, { default: "caller" })
 */
export function belongsTo<const O extends BelongsToOptions, Target extends Resource = Resource>(
  target: () => Target,
  options?: O,
): Field<ValueOf<string, O>, PresenceOf<O>, "belongsTo"> & RefersTo<Target["name"]> {
  return Object.freeze({ kind: "belongsTo", options: options ?? {}, target });
}

/**
 * How many rows of a resource refer to the row, of those that the caller may see. It is computed when a request selects
 * it, `fields=openIssues`, and cannot be written. With `kept: true` it is part of the row, to sort and filter by.
 *
 * @param of returns the resource. The result is typed as nothing, because the resource may be the child of the one that
 *   is being declared, whose type is not known yet; it is checked at start
 * @example
 * openIssues: count(() => issues, { where: { status: "open" } })
 */
export function count<const O extends Partial<CountOptions>>(
  of: () => void,
  options?: Only<O, Pick<CountOptions, "where" | "by" | "kept" | "description" | "deprecated">>,
): Field<number, O extends { kept: true } ? "kept" : "counted", "count"> {
  return Object.freeze({ kind: "count", options: options ?? {}, of });
}
