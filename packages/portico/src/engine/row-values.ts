// From a checked body to the values of a row: defaults, moments in UTC, merged JSON.

import type { Caller } from "../declare/caller.ts";
import type { Attribute, Described, ResourceModel } from "../declare/model.ts";
import { moment } from "../declare/moment.ts";
import { fault } from "../errors.ts";
import type { RowValues } from "../plan/write.ts";
import { mergePatch } from "./merge-patch.ts";

type Values = Record<string, unknown>;

/** The body with the defaults that are worked out from it: they are validated together. */
export function withDerivedDefaults(
  { attributes }: Described,
  body: RowValues,
  isReplacement = false,
): RowValues | undefined {
  const derived = attributes.filter((attribute) => {
    const mayBeGiven = !attribute.isReadOnly && !(isReplacement && attribute.isFixed);
    const isDerived = typeof constantDefault(attribute) === "function";
    return mayBeGiven && isDerived && givenIn(body, attribute) === undefined;
  });
  if (derived.length === 0) return undefined;
  const filled: Values = { ...body };
  for (const attribute of derived) {
    const derive = constantDefault(attribute) as (input: RowValues) => unknown;
    filled[attribute.name] = derive(body);
  }
  return filled;
}

/** What the body itself has: a field may be called `constructor`, which every object inherits. */
function givenIn(body: RowValues, { name }: Attribute): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}

function constantDefault({ field }: Attribute): unknown {
  return "default" in field.options ? field.options.default : undefined;
}

/** Every value of what a body describes as a whole, but for what the server gives. */
export function wholeValues(
  attributes: readonly Attribute[],
  body: RowValues,
  caller: Caller,
  now: string,
): Values {
  const values: Values = {};
  for (const attribute of attributes) {
    if (attribute.isReadOnly && !("default" in attribute.field.options)) continue;
    const given = givenIn(body, attribute);
    values[attribute.name] =
      given === undefined ? defaultValue(attribute, caller, now) : normalised(attribute, given);
  }
  return values;
}

/** The values that a whole new body (PUT) puts in the place of a row's; what callers may not give stays. */
export function replacedValues(
  resource: ResourceModel,
  body: RowValues,
  caller: Caller,
  now: string,
): Values {
  const changeable = resource.attributes.filter(({ isReadOnly, isFixed }) => !isReadOnly && !isFixed);
  return wholeValues(changeable, body, caller, now);
}

function defaultValue(attribute: Attribute, caller: Caller, now: string): unknown {
  const { field, name } = attribute;
  const standard = constantDefault(attribute);
  if (field.kind === "belongsTo" && standard === "caller") {
    if (caller.userId !== undefined) return caller.userId;
    throw fault(name, "required", `${name} is required, because the credential belongs to no user.`);
  }
  if (field.kind === "timestamp" && standard === "now") return now;
  return normalised(attribute, standard ?? null);
}

/** The values that a partial body (PATCH) changes. Members of `json` fields are merged (RFC 7396). */
export function changedValues(resource: ResourceModel, body: RowValues, current: RowValues): Values {
  const values: Values = {};
  for (const [name, given] of Object.entries(body)) {
    const attribute = resource.attribute.get(name)!;
    values[name] =
      attribute.field.kind === "json" ? mergePatch(current[name], given) : normalised(attribute, given);
  }
  return values;
}

/** What a caller might give, and what only the server and its hooks may. */
export function partsOf(resource: ResourceModel, body: unknown): [input: unknown, byServer: RowValues] {
  if (typeof body !== "object" || body === null) return [body, {}];
  const isByServer = ([name]: [string, unknown]): boolean =>
    resource.attribute.get(name)?.isReadOnly === true;
  const members = Object.entries(body);
  return [
    Object.fromEntries(members.filter((member) => !isByServer(member))),
    Object.fromEntries(members.filter(isByServer)),
  ];
}

/** Values as they will stand in the row. */
export function givenValues(resource: ResourceModel, given: RowValues): Values {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    present.map(([name, value]) => [name, normalised(resource.attribute.get(name)!, value)]),
  );
}

function normalised({ field, name }: Attribute, value: unknown): unknown {
  if (field.kind !== "timestamp" || value === null) return value;
  return moment(String(value)) ?? refuseMoment(name);
}

function refuseMoment(name: string): never {
  throw fault(name, "format", `${name} must be an ISO 8601 date and time between the years 1 and 9999.`);
}

/** The value that an attribute will have in a row that is written; what nobody gives is null. */
export function standingValue(attribute: Attribute, row: RowValues, now: string): unknown {
  const { name, moments, field } = attribute;
  if (!moments || field.kind !== "state") return givenIn(row, attribute) ?? null;
  // A row that was read lacks internal timestamps, and has the state that the database worked out from them.
  const isReadState = moments.some(({ from }) => from.isInternal && !Object.hasOwn(row, from.name));
  if (isReadState && Object.hasOwn(row, name)) return row[name];
  const begun = moments.find(({ from, secondsBefore }) => {
    const begins = givenIn(row, from);
    const until = new Date(Date.parse(now) + secondsBefore * 1000).toISOString();
    return typeof begins === "string" && begins <= until;
  });
  return begun?.state ?? field.choices.at(-1);
}

/** Where a searched field changes, the update needs all of them to make the search words anew. */
export function withSearched(resource: ResourceModel, changes: RowValues, row: RowValues): RowValues {
  if (!resource.search.some(({ name }) => name in changes)) return changes;
  const searched = Object.fromEntries(resource.search.map(({ name }) => [name, row[name]]));
  return { ...searched, ...changes };
}
