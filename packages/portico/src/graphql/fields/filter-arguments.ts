// The `filter` argument: its fields, and the conditions that they mean.

import { validationError } from "../../errors.ts";
import { isStorable } from "../../lib/storable-text.ts";
import type {
  Attribute,
  FilterModel,
  FilterOperator,
  RelatedRows,
  ResourceModel,
} from "../../model/model.ts";
import { maxFilterValues } from "../../model/operation-parameters.ts";
import { comparableOf } from "../../query/comparable.ts";
import { allOf, type Condition, type Value } from "../../query/condition.ts";
import { filterCondition, relatedCondition } from "../../query/filter.ts";
import { pascalCase } from "../schema/naming.ts";
import type { Arguments } from "./field-mapping.ts";

/** A field of a filter: `status`, `createdAtGte`. */
export interface FilterField {
  readonly filter: FilterModel;
  readonly operator: FilterOperator;
}

/** The fields of the filter of a resource, and those of related rows by their names. */
export interface FilterFields {
  readonly own: ReadonlyMap<string, FilterField>;
  readonly related: ReadonlyMap<
    string,
    { readonly rows: RelatedRows; readonly fields: ReadonlyMap<string, FilterField> }
  >;
}

const fieldsOf = new WeakMap<ResourceModel, FilterFields>();

/** The fields of the filter of a resource. */
export function filterFields(resource: ResourceModel): FilterFields {
  const known = fieldsOf.get(resource);
  if (known) return known;
  const filters = [...resource.filters.values()];
  const related = Map.groupBy(
    filters.filter((each) => each.related),
    (each) => each.related!.name,
  );
  const fields: FilterFields = {
    own: operatorFields(filters.filter((each) => !each.related)),
    related: new Map(
      [...related].map(([name, each]) => {
        // The related row is a level of its own in the filter.
        const own = each.map((filter) => ({ ...filter, related: undefined }));
        return [name, { rows: each[0]!.related!, fields: operatorFields(own) }];
      }),
    ),
  };
  fieldsOf.set(resource, fields);
  return fields;
}

function operatorFields(filters: readonly FilterModel[]): ReadonlyMap<string, FilterField> {
  const fields = new Map<string, FilterField>();
  for (const filter of filters)
    if (filter.operators.has("eq")) fields.set(filter.attribute.name, { filter, operator: "eq" });
  for (const filter of filters)
    for (const operator of filter.operators) {
      const name = filter.attribute.name + pascalCase(operator);
      // A field may have the name of another with an operator.
      if (operator !== "eq" && !fields.has(name)) fields.set(name, { filter, operator });
    }
  return fields;
}

/** Operators whose value is a list; a single value is one too (GraphQL, section 3.11). */
export function takesList(operator: FilterOperator): boolean {
  return operator === "eq" || operator === "in" || operator === "ne";
}

/** Filters inside each other. */
const maxDepth = 8;
/** Comparisons and filters in all. */
const maxComparisons = 100;

/** The conditions of a filter, all of which must hold. @throws Problem `validation_error` */
export function filterConditions(resource: ResourceModel, filter: Arguments): readonly Condition[] {
  return new FilterArgument(resource).conditions(filter, 1);
}

class FilterArgument {
  readonly #fields: FilterFields;
  #count = 0;

  constructor(resource: ResourceModel) {
    this.#fields = filterFields(resource);
  }

  conditions(filter: Arguments, depth: number): Condition[] {
    if (depth > maxDepth)
      throw validationError("filter", "max", `The filter is nested more than ${maxDepth} levels deep.`);
    return [
      ...this.#compared(this.#fields.own, filter, "filter"),
      ...this.#related(filter),
      ...this.#combined(filter, depth),
    ];
  }

  #compared(fields: FilterFields["own"], filter: Arguments, path: string): Condition[] {
    this.#countOne();
    const conditions: Condition[] = [];
    for (const [name, field] of fields) {
      if (!Object.hasOwn(filter, name) || filter[name] === undefined) continue;
      this.#countOne();
      conditions.push(fieldCondition(field, name, filter[name], path));
    }
    return conditions;
  }

  /** Conditions on related rows: `author: { role: admin }`, `comments: { some: { ... }, none: { ... } }` */
  #related(filter: Arguments): Condition[] {
    const conditions: Condition[] = [];
    for (const [name, { rows, fields }] of this.#fields.related) {
      const value = memberOf(filter, name);
      if (value === undefined) continue;
      const met = (inner: Arguments, path: string): Condition =>
        relatedCondition(rows, this.#compared(fields, inner, path));
      if (rows.kind === "is") {
        conditions.push(met(value, `filter.${name}`));
        continue;
      }
      const some = memberOf(value, "some", `filter.${name}.`);
      const none = memberOf(value, "none", `filter.${name}.`);
      if (some) conditions.push(met(some, `filter.${name}.some`));
      if (none) conditions.push({ operator: "not", conditions: [met(none, `filter.${name}.none`)] });
    }
    return conditions;
  }

  #combined(filter: Arguments, depth: number): Condition[] {
    const listOf = (name: string): readonly (readonly Condition[])[] | undefined => {
      const value = memberOf(filter, name) as readonly Arguments[] | undefined;
      return value?.map((each) => this.conditions(each, depth + 1));
    };
    const [all, any, not] = [listOf("AND"), listOf("OR"), memberOf(filter, "NOT")];
    return [
      ...(all?.flat() ?? []),
      ...(any ? [{ operator: "or", conditions: any.map(allOf) } as const] : []),
      ...(not ? [{ operator: "not", conditions: this.conditions(not, depth + 1) } as const] : []),
    ];
  }

  #countOne(): void {
    this.#count += 1;
    if (this.#count > maxComparisons)
      throw validationError(
        "filter",
        "max",
        `The filter has more than ${maxComparisons} comparisons and filters.`,
      );
  }
}

/** An object or list inside a filter; undefined if it is left out. @throws Problem `validation_error` for null */
function memberOf(filter: Arguments, name: string, path = "filter."): Arguments | undefined {
  if (!Object.hasOwn(filter, name) || filter[name] === undefined) return undefined;
  if (filter[name] === null) throw notNull(path + name, name);
  // The schema has coerced it.
  return filter[name] as Arguments;
}

function fieldCondition(
  { filter, operator }: FilterField,
  name: string,
  value: unknown,
  path: string,
): Condition {
  const field = `${path}.${name}`;
  if (value === null && !takesList(operator)) throw notNull(field, name);
  const values = (Array.isArray(value) ? value : [value]) as readonly Value[];
  // Checked before duplicates are removed: the same long list can be the value of many fields.
  if (values.length > maxFilterValues)
    throw validationError(field, "max", `${name} has more than ${maxFilterValues} values.`);
  if (values.some((each) => typeof each === "string" && !isStorable(each)))
    throw validationError(field, "format", `${name} contains a character that cannot be stored.`);
  const compared = values.map((each) => canonical(filter.attribute, each, field, name));
  return filterCondition(filter, operator, [...new Set(compared)]);
}

/** A decimal in the form in which rows have it. @throws Problem `validation_error` for one with more digits than the field */
function canonical(attribute: Attribute, value: Value, field: string, name: string): Value {
  if (attribute.field.kind !== "decimal" || typeof value !== "string") return value;
  const { parse, expected } = comparableOf(attribute)!;
  const parsed = parse(value);
  if (parsed === undefined) throw validationError(field, "format", `${name} must be ${expected}.`);
  return parsed;
}

function notNull(field: string, name: string) {
  return validationError(
    field,
    "type",
    `${name} must not be null. Leave it out, or use the operator IsNull.`,
  );
}
