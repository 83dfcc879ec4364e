// The options of fields, by kind.

import type { FieldShape } from "./field.ts";
import type { LooseWhere } from "./where.ts";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };

interface Options {
  /** May be left out and may be null. */
  readonly optional?: boolean;
  /** Set by hooks only. Callers can read it; a request that sends it is rejected with `read_only`. */
  readonly readOnly?: boolean;
  /** Set by hooks only and never part of a response. */
  readonly internal?: boolean;
  /** Set when the row is created and never changed. An update that sends it is rejected with `read_only`. */
  readonly immutable?: boolean;
  /** A PUT that leaves it out keeps its value, instead of setting it to the default. */
  readonly keepOnReplace?: boolean;
  /** Excluded from the entity tag, because it changes without an update by a caller, such as a last use. */
  readonly excludeFromETag?: boolean;
  /** The first name of a field that was renamed. The database and recorded events keep it, so it stays declared. */
  readonly was?: string;
  /** One line for the documentation. */
  readonly description?: string;
  /** Deprecates the field: responses to requests that name it have the header `Deprecation`. */
  readonly deprecated?: Deprecation;
}

/** The ISO dates of a deprecation and, if known, of the removal (RFC 9745, RFC 8594). */
export interface Deprecation {
  readonly since: string;
  readonly sunset?: string;
  /** The address of a page that explains it, for the header `Link`: what to use instead, and until when. */
  readonly link?: string;
}

/**
 * The value of existing rows of a field that is added or becomes required: a constant, or a function of the row. New rows
 * need a value of their own. `fill: ({ title }) => slugOf(String(title))`
 */
type Fill<Value> = Value | ((row: Readonly<Record<string, unknown>>) => Value);

/** A constant, or a function of the other input fields that computes a value, for example a slug from a name. */
type Default<Value> = Value | ((input: Readonly<Record<string, unknown>>) => Value);

export interface TextOptions extends Options {
  readonly fill?: Fill<string>;
  /** Minimum and maximum length in characters (Unicode code points). */
  readonly min?: number;
  readonly max?: number;
  readonly default?: Default<string>;
  /** No two rows of the tenant, or of all tenants, have the same text. */
  readonly unique?: boolean | "all tenants";
  readonly format?: "email" | "uri";
  /** A regular expression that the whole text must match. */
  readonly pattern?: RegExp;
}
export interface NumberOptions extends Options {
  readonly fill?: Fill<number>;
  readonly min?: number;
  readonly max?: number;
  readonly default?: Default<number>;
}
export interface DecimalOptions extends Options {
  /** Digits in all, at most 18. It can change later. */
  readonly precision: number;
  /** Digits after the point, which all values have. */
  readonly scale: number;
  readonly fill?: Fill<string>;
  readonly min?: string;
  readonly max?: string;
  readonly default?: Default<string>;
  /** No two rows of the tenant have the same number. */
  readonly unique?: boolean;
}
export interface BooleanOptions extends Options {
  readonly fill?: Fill<boolean>;
  readonly default?: Default<boolean>;
}
export interface TimestampOptions extends Options {
  readonly fill?: Fill<string>;
  /** An ISO 8601 date and time, or `"now"`. */
  readonly default?: string;
}
export interface DateOptions extends Options {
  readonly fill?: Fill<string>;
  /** The first and the last day: `2026-01-01`. */
  readonly min?: string;
  readonly max?: string;
  /** A day, or `"today"`: the present day in UTC. */
  readonly default?: string;
}
export interface ChoiceOptions<Value extends string> extends Options {
  readonly fill?: Fill<Value>;
  readonly default?: Value;
  /** Compares and sorts by the order of the choices, smallest first, instead of by their letters. */
  readonly ordered?: boolean;
}
export interface JsonOptions extends Options {
  readonly fill?: Fill<unknown>;
  readonly default?: Default<unknown>;
  /** The JSON Schema that values must match. */
  readonly schema?: JsonSchema;
}
export interface ListOptions<Item = unknown> extends Options {
  readonly fill?: Fill<readonly Item[]>;
  /** Minimum and maximum number of items; the default maximum is 100. */
  readonly min?: number;
  readonly max?: number;
  /** No item may occur twice. */
  readonly uniqueItems?: boolean;
  readonly default?: Default<readonly Item[]>;
}
export interface FileOptions extends Options {
  /** Maximum size, in bytes or as text: `"10 MB"`, the default; at most `"1 GB"`. */
  readonly max?: number | string;
  /** The media types that it may have: `["image/*", "application/pdf"]`; any by default. */
  readonly types?: readonly string[];
}
export interface ComputedStatusOptions extends Options {
  readonly readOnly: true;
}

/** A status that applies from the time in a timestamp field, or from `secondsBefore` that time. */
export interface StatusRule<Status extends string = string> {
  readonly status: Status;
  readonly from: string;
  readonly secondsBefore?: number;
}
export interface IdOptions extends Options {
  readonly fill?: Fill<string>;
  readonly unique?: boolean;
}
export interface BelongsToOptions extends Options {
  readonly fill?: Fill<string>;
  /** No two rows of the tenant refer to the same row: one to one. */
  readonly unique?: boolean;
  /** `"caller"`: the user that the caller acts for. */
  readonly default?: "caller";
  /**
   * What happens to the row when the row that it refers to is deleted. `"cascade"`: it is deleted too, and its hooks run.
   * `"setNull"`: it refers to no row from then on. By default the referenced row cannot be deleted.
   */
  readonly onDelete?: "cascade" | "setNull";
}

export interface ManyToManyOptions extends Options {
  /** A set is empty where it has no value. */
  readonly optional?: never;
  readonly min?: never;
  /** Maximum number of rows; 100 by default. */
  readonly max?: number;
  /** What one of the rows is called, where dropping the `s` is wrong: `series: manyToMany(() => series, { singular: "series" })`. */
  readonly singular?: string;
  /** `"restrict"`: a row cannot be deleted while others refer to it. By default it is taken off them. */
  readonly onDelete?: "restrict";
  /** Always the empty set. */
  readonly default?: readonly [];
}

export interface CountOptions extends Options {
  /** The condition that counted rows meet, by default all: `{ status: "open" }`. Its names are checked at start. */
  readonly where?: LooseWhere;
  /** The reference of the counted rows that leads to the row, if they have several. */
  readonly by?: string;
  /**
   * Stores the number in the row, which every write of a counted row corrects, so that rows can be sorted and filtered by
   * it. `where` looks at fields of the counted rows only, and everybody sees the same number.
   */
  readonly kept?: boolean;
}

const commonOptions = [
  "optional",
  "readOnly",
  "internal",
  "immutable",
  "keepOnReplace",
  "excludeFromETag",
  "was",
  "fill",
  "description",
  "deprecated",
];

/** The names of the options of each kind, to validate declarations that were not type-checked. */
export const optionNames: Readonly<Record<FieldShape["kind"], readonly string[]>> = {
  text: [...commonOptions, "min", "max", "default", "unique", "format", "pattern"],
  integer: [...commonOptions, "min", "max", "default"],
  number: [...commonOptions, "min", "max", "default"],
  decimal: [...commonOptions, "precision", "scale", "min", "max", "default", "unique"],
  boolean: [...commonOptions, "default"],
  timestamp: [...commonOptions, "default"],
  date: [...commonOptions, "min", "max", "default"],
  choice: [...commonOptions, "default", "ordered"],
  json: [...commonOptions, "default", "schema"],
  list: [...commonOptions, "min", "max", "uniqueItems", "default"],
  file: [...commonOptions.filter((option) => option !== "fill"), "max", "types"],
  id: [...commonOptions, "unique"],
  computedStatus: ["readOnly", "description", "deprecated"],
  belongsTo: [...commonOptions, "default", "unique", "onDelete"],
  manyToMany: [
    ...commonOptions.filter((option) => option !== "optional" && option !== "fill"),
    ...["max", "singular", "onDelete", "default"],
  ],
  count: ["where", "by", "kept", "description", "deprecated"],
};
