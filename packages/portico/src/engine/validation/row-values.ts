// Turns a valid body into the values of a row: defaults, timestamps in UTC, merged JSON.

import type { Caller } from "../../declare/caller.ts";
import { validationError } from "../../errors.ts";
import { dayOf } from "../../lib/calendar-date.ts";
import { canonicalDecimal } from "../../lib/decimal.ts";
import { mergePatch } from "../../lib/json-merge-patch.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import type { Attribute, ResourceModel, Shape } from "../../model/model.ts";
import type { RowValues } from "../../query/write.ts";

type Values = Record<string, unknown>;

/** The body with the defaults that are derived from it, to be validated together; undefined if there are none. */
export function withDerivedDefaults(
  { attributes }: Shape,
  body: RowValues,
  isReplacement = false,
  kept: readonly Attribute[] = [],
): RowValues | undefined {
  const derived = attributes.filter((attribute) => {
    const isWritable =
      !attribute.isReadOnly && !(isReplacement && attribute.isImmutable) && !kept.includes(attribute);
    const isDerived = typeof constantDefault(attribute) === "function";
    return isWritable && isDerived && valueIn(body, attribute) === undefined;
  });
  if (derived.length === 0) return undefined;
  const filled: Values = { ...body };
  for (const attribute of derived) {
    const deriveDefault = constantDefault(attribute) as (input: RowValues) => unknown;
    filled[attribute.name] = deriveDefault(body);
  }
  return filled;
}

/** The own member of a body: a field may be named `constructor`, which every object inherits. */
function valueIn(body: RowValues, { name }: Attribute): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}

function constantDefault({ field }: Attribute): unknown {
  return "default" in field.options ? field.options.default : undefined;
}

/** All values of a row that a whole body describes, except those that the server sets. */
export function insertValues(
  attributes: readonly Attribute[],
  body: RowValues,
  caller: Caller,
  now: string,
): Values {
  const values: Values = {};
  for (const attribute of attributes) {
    if (attribute.isReadOnly && !("default" in attribute.field.options)) continue;
    const value = valueIn(body, attribute);
    values[attribute.name] =
      value === undefined ? defaultValue(attribute, caller, now) : normalizeValue(attribute, value);
  }
  return values;
}

/**
 * The values that a whole body (PUT) replaces. Fields that callers cannot set keep their values.
 * @param kept other fields that keep theirs
 */
export function replacementValues(
  resource: ResourceModel,
  body: RowValues,
  caller: Caller,
  now: string,
  kept: readonly Attribute[] = [],
): Values {
  const updatable = resource.attributes.filter((attribute) => {
    const keepsValue = attribute.field.options.keepOnReplace === true || kept.includes(attribute);
    const isKept = keepsValue && valueIn(body, attribute) === undefined;
    return !attribute.isReadOnly && !attribute.isImmutable && !isKept;
  });
  return insertValues(updatable, body, caller, now);
}

function defaultValue(attribute: Attribute, caller: Caller, now: string): unknown {
  const { field, name } = attribute;
  const value = constantDefault(attribute);
  if (field.kind === "belongsTo" && value === "caller") {
    if (caller.userId !== null) return caller.userId;
    throw validationError(
      name,
      "required",
      `${name} is required, because the credential belongs to no user.`,
    );
  }
  if (field.kind === "timestamp" && value === "now") return now;
  if (field.kind === "date" && value === "today") return dayOf(now);
  return normalizeValue(attribute, value ?? null);
}

/** The values that a partial body (PATCH) updates. Members of `json` fields are merged (RFC 7396). */
export function patchedValues(resource: ResourceModel, body: RowValues, current: RowValues): Values {
  const values: Values = {};
  for (const [name, value] of Object.entries(body)) {
    // Code that has no new value for a field leaves the field as it is.
    if (value === undefined) continue;
    const attribute = resource.attribute.get(name)!;
    values[name] =
      attribute.field.kind === "json" ? mergePatch(current[name], value) : normalizeValue(attribute, value);
  }
  return values;
}

/** Separates the fields that callers can set from those that only the server and hooks can set. */
export function splitServerFields(
  resource: ResourceModel,
  body: unknown,
): [input: unknown, byServer: RowValues] {
  if (typeof body !== "object" || body === null) return [body, {}];
  const isByServer = ([name]: [string, unknown]): boolean =>
    resource.attribute.get(name)?.isReadOnly === true;
  const members = Object.entries(body);
  return [
    Object.fromEntries(members.filter((member) => !isByServer(member))),
    Object.fromEntries(members.filter(isByServer)),
  ];
}

/** The values of a hook as the row stores them. */
export function hookValues(resource: ResourceModel, values: RowValues): Values {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    present.map(([name, value]) => [name, normalizeValue(resource.attribute.get(name)!, value)]),
  );
}

/** A valid value in the form in which rows store it. */
function normalizeValue({ field, name, links }: Attribute, value: unknown): unknown {
  // A set of ids has one form.
  if (links) return [...(value as readonly string[])].sort();
  if (value === null) return value;
  if (field.kind === "decimal") return canonicalDecimal(String(value), field.options.scale);
  if (field.kind !== "timestamp") return value;
  return parseTimestamp(String(value)) ?? throwInvalidTimestamp(name);
}

function throwInvalidTimestamp(name: string): never {
  throw validationError(
    name,
    "format",
    `${name} must be an ISO 8601 date and time between the years 1 and 9999.`,
  );
}

/** The value of an attribute in a row that is about to be written; null if it has no value. */
export function currentValue(attribute: Attribute, row: RowValues, now: string): unknown {
  const { name, statusRules: rules, field } = attribute;
  if (!rules || field.kind !== "computedStatus") return valueIn(row, attribute) ?? null;
  // A row from the database has no internal timestamps, but the status that the database computed from them.
  const isStoredStatus = rules.some(({ from }) => from.isInternal && !Object.hasOwn(row, from.name));
  if (isStoredStatus && Object.hasOwn(row, name)) return row[name];
  const started = rules.find(({ from, secondsBefore }) => {
    const begins = valueIn(row, from);
    const until = new Date(Date.parse(now) + secondsBefore * 1000).toISOString();
    return typeof begins === "string" && begins <= until;
  });
  return started?.status ?? field.choices.at(-1);
}

/** Adds all searched fields to an update of one of them, because the search index is built from all. */
export function withSearchFields(resource: ResourceModel, changes: RowValues, row: RowValues): RowValues {
  if (!resource.search.some(({ name }) => name in changes)) return changes;
  const searched = Object.fromEntries(resource.search.map(({ name }) => [name, row[name]]));
  return { ...searched, ...changes };
}
