// The options of fields, by kind.

import type { FieldShape } from "./field.ts";

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
export interface BooleanOptions extends Options {
  readonly fill?: Fill<boolean>;
  readonly default?: Default<boolean>;
}
export interface TimestampOptions extends Options {
  readonly fill?: Fill<string>;
  /** An ISO 8601 date and time, or `"now"`. */
  readonly default?: string;
}
export interface ChoiceOptions<Value extends string> extends Options {
  readonly fill?: Fill<Value>;
  readonly default?: Value;
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
  /** `"caller"`: the user that the caller acts for. */
  readonly default?: "caller";
  /** `"cascade"`: the row is deleted with the row it refers to, and its hooks run. By default the referenced row cannot be deleted. */
  readonly onDelete?: "cascade";
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
  boolean: [...commonOptions, "default"],
  timestamp: [...commonOptions, "default"],
  choice: [...commonOptions, "default"],
  json: [...commonOptions, "default", "schema"],
  list: [...commonOptions, "min", "max", "uniqueItems", "default"],
  id: [...commonOptions, "unique"],
  computedStatus: ["readOnly", "description", "deprecated"],
  belongsTo: [...commonOptions, "default", "onDelete"],
};
