// Parses a condition as declarations write it, `{ status: "open", members: { some: { userId } } }`, into the tree that the
// store compiles. It was returned by code, so nothing about it is known.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { type Comparable, comparableOf } from "./comparable.ts";
import { allOf, always, type Condition, never, type Operator, type Value } from "./condition.ts";
import { describeValue, isPlainObject } from "./plain-object.ts";
import { searchOf } from "./search-condition.ts";

/** Conditions that lead from one to the next: combinations and related rows inside each other. */
const maxDepth = 8;
/** Comparisons in all. */
const maxComparisons = 100;
/** More values would be a list of rows, which belongs in the database. */
const maxValues = 1_000;

export interface WhereOptions {
  /**
   * Throws an error about a condition.
   * @param resource whose field it names
   * @param field undefined for the condition as a whole
   * @param remedy what is wrong and what to do: `names it, but there is no such field; use one of id, title`
   */
  readonly refuse: (resource: ResourceModel, field: string | undefined, remedy: string) => never;
  /** Whether `undefined` as a value is an error. Otherwise no row meets a condition that depends on it. */
  readonly refusesUndefined?: boolean;
}

/** The conditions that a row must all meet. @throws whatever `refuse` throws */
export function parseWhere(
  resource: ResourceModel,
  where: unknown,
  options: WhereOptions,
): readonly Condition[] {
  return new WhereParser(options).parse(resource, where, { depth: 1, isNegated: false });
}

interface Position {
  readonly depth: number;
  /** Whether the condition is met where what is parsed here is not. */
  readonly isNegated: boolean;
}

class WhereParser {
  readonly #options: WhereOptions;
  #comparisons = 0;

  constructor(options: WhereOptions) {
    this.#options = options;
  }

  parse(resource: ResourceModel, where: unknown, position: Position): Condition[] {
    if (where === undefined) return [this.#undefinedIn(resource, undefined, position)];
    if (!isPlainObject(where))
      this.#refuse(
        resource,
        undefined,
        `has ${describeValue(where)} where a condition belongs; write { field: value }`,
      );
    if (position.depth > maxDepth)
      this.#refuse(resource, undefined, `is nested more than ${maxDepth} levels deep; simplify it`);
    const conditions: Condition[] = [];
    for (const name in where)
      if (Object.hasOwn(where, name)) conditions.push(...this.#member(resource, name, where[name], position));
    return conditions;
  }

  #member(resource: ResourceModel, name: string, value: unknown, position: Position): readonly Condition[] {
    const attribute = resource.attribute.get(name);
    if (attribute) return this.#field(resource, attribute, value, position);
    if (name === "AND" || name === "OR" || name === "NOT")
      return this.#combination(resource, name, value, position);
    const reference = resource.references.find((each) => each.reference!.name === name);
    if (reference) return [this.#reference(resource, reference, value, position)];
    const collection = resource.collections.get(name);
    if (collection) return this.#collection(resource, name, collection, value, position);
    const { attributes, references, collections } = resource;
    const known = [
      ...attributes.filter(({ isInternal }) => !isInternal).map((each) => each.name),
      ...references.filter(({ isInternal }) => !isInternal).map((each) => each.reference!.name),
      ...collections.keys(),
    ];
    return this.#refuse(
      resource,
      name,
      `names it, but there is no such field; use one of ${known.join(", ")}`,
    );
  }

  #combination(
    resource: ResourceModel,
    name: "AND" | "OR" | "NOT",
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    const inner = { ...position, depth: position.depth + 1 };
    if (value === undefined) return [this.#undefinedIn(resource, name, position)];
    if (name === "NOT") {
      const conditions = this.parse(resource, value, { ...inner, isNegated: !position.isNegated });
      return [{ operator: "not", conditions }];
    }
    if (!Array.isArray(value))
      this.#refuse(resource, name, `has ${describeValue(value)} as ${name}; write a list of conditions`);
    if (value.length > maxComparisons) this.#refuse(resource, undefined, tooMany);
    const all = Array.from(value, (each) => this.parse(resource, each, inner));
    return name === "AND" ? all.flat() : [{ operator: "or", conditions: all.map(allOf) }];
  }

  #reference(resource: ResourceModel, attribute: Attribute, value: unknown, position: Position): Condition {
    const { name, target } = attribute.reference!;
    if (attribute.isInternal) this.#refuseInternal(resource, name);
    if (value === null || typeof value === "string")
      this.#refuse(
        resource,
        name,
        `compares it with ${describeValue(value)}; compare ${attribute.name}, or write ${name}: { field: value }`,
      );
    this.#count(resource);
    if (value === undefined) return this.#undefinedIn(resource, name, position);
    const conditions = this.parse(target, value, { ...position, depth: position.depth + 1 });
    return { attribute, operator: "is", conditions };
  }

  #collection(
    resource: ResourceModel,
    name: string,
    { resource: referring, reference }: { readonly resource: ResourceModel; readonly reference: Attribute },
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    if (value === undefined) return [this.#undefinedIn(resource, name, position)];
    if (!isPlainObject(value) || Object.keys(value).length === 0)
      this.#refuse(resource, name, "names a collection; write { some: { ... } } or { none: { ... } }");
    return Object.entries(value).map(([quantifier, inner]): Condition => {
      if (quantifier !== "some" && quantifier !== "none")
        this.#refuse(resource, name, `has ${quantifier} for it, which is unknown; use some or none`);
      this.#count(resource);
      const isNone = quantifier === "none";
      if (inner === undefined) return this.#undefinedIn(resource, name, position);
      const conditions = this.parse(referring, inner, {
        depth: position.depth + 1,
        isNegated: position.isNegated !== isNone,
      });
      const some: Condition = { attribute: reference, operator: "some", resource: referring, conditions };
      return isNone ? { operator: "not", conditions: [some] } : some;
    });
  }

  #field(
    resource: ResourceModel,
    attribute: Attribute,
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    if (attribute.isInternal) this.#refuseInternal(resource, attribute.name);
    const comparable = comparableOf(attribute);
    if (!comparable)
      this.#refuse(
        resource,
        attribute.name,
        "names it, but JSON and lists cannot be compared; use another field",
      );
    const compared: Compared = { resource, attribute, comparable, position };
    if (!isPlainObject(value)) return [this.#oneOf(compared, "in", Array.isArray(value) ? value : [value])];
    const operators = Object.entries(value);
    if (operators.length === 0)
      this.#refuse(resource, attribute.name, `compares it with {}; use ${operatorNames.join(", ")}`);
    return operators.map(([operator, operand]) => this.#operator(compared, operator, operand));
  }

  #operator(compared: Compared, operator: string, operand: unknown): Condition {
    const {
      resource,
      attribute: { name },
    } = compared;
    switch (operator) {
      case "not":
        return this.#oneOf(compared, "notIn", [operand]);
      case "in":
      case "notIn":
        if (operand === undefined) return this.#oneOf(compared, operator, undefined);
        if (!Array.isArray(operand))
          this.#refuse(resource, name, `has ${describeValue(operand)} for ${operator}; write a list`);
        return this.#oneOf(compared, operator, operand);
      case "isNull":
        if (operand === undefined) return this.#oneOf(compared, "in", undefined);
        if (typeof operand !== "boolean")
          this.#refuse(resource, name, "has isNull that is not true or false");
        return this.#oneOf(compared, operand ? "in" : "notIn", [null]);
      case "lt":
      case "lte":
      case "gt":
      case "gte":
      case "contains":
      case "startsWith":
        return this.#ordered(compared, operator, operand);
      default:
        return this.#refuse(
          resource,
          name,
          `has ${operator} for it, which is unknown; use ${operatorNames.join(", ")}`,
        );
    }
  }

  #ordered(compared: Compared, operator: Exclude<Operator, "in" | "notIn">, operand: unknown): Condition {
    const { resource, attribute, comparable, position } = compared;
    const isSearch = operator === "contains" || operator === "startsWith";
    if (attribute.statusRules)
      this.#refuse(resource, attribute.name, `has ${operator} for it, but a status has no order; use in`);
    if (isSearch && !comparable.isText)
      this.#refuse(
        resource,
        attribute.name,
        `has ${operator} for it, but it is not text; use another operator`,
      );
    if (operand === undefined) return this.#undefinedIn(resource, attribute.name, position);
    this.#count(resource);
    if (operand === null) this.#refuse(resource, attribute.name, `has null for ${operator}; use isNull`);
    const value = this.#value(compared, operand);
    return isSearch ? searchOf(attribute, operator, String(value)) : { attribute, operator, values: [value] };
  }

  /** @param list undefined for an operator whose operand is undefined */
  #oneOf(compared: Compared, operator: "in" | "notIn", list: readonly unknown[] | undefined): Condition {
    const { resource, attribute, position } = compared;
    this.#count(resource);
    const values = list ?? [undefined];
    if (values.length > maxValues)
      this.#refuse(resource, attribute.name, `has more than ${maxValues} values; use fewer`);
    const present = values.filter((each) => each !== undefined);
    if (present.length < values.length) {
      const ofUndefined = this.#undefinedIn(resource, attribute.name, position);
      // Whether a row has a value that is undefined is unknown; only what is certain without it may be met.
      if (present.length === 0 || (operator === "in") === position.isNegated) return ofUndefined;
    }
    const parsed = present.map((each) => (each === null ? null : this.#value(compared, each)));
    return { attribute, operator, values: [...new Set(parsed)] };
  }

  #value({ resource, attribute, comparable }: Compared, value: unknown): NonNullable<Value> {
    return (
      comparable.parse(value) ??
      this.#refuse(
        resource,
        attribute.name,
        `compares it with a value that is not ${comparable.expected}; use ${comparable.expected}, a list of such values, or null`,
      )
    );
  }

  /** The condition for a value that is undefined: it lets no row meet the whole, also where it is negated. */
  #undefinedIn(resource: ResourceModel, field: string | undefined, { isNegated }: Position): Condition {
    if (this.#options.refusesUndefined)
      this.#refuse(resource, field, "has an undefined value; leave it out, or use null");
    return isNegated ? always : never;
  }

  #count(resource: ResourceModel): void {
    this.#comparisons += 1;
    if (this.#comparisons > maxComparisons) this.#refuse(resource, undefined, tooMany);
  }

  #refuseInternal(resource: ResourceModel, field: string): never {
    return this.#refuse(
      resource,
      field,
      "names it, but it is internal, so events do not hold it; use another field",
    );
  }

  #refuse(resource: ResourceModel, field: string | undefined, remedy: string): never {
    return this.#options.refuse(resource, field, remedy);
  }
}

interface Compared {
  readonly resource: ResourceModel;
  readonly attribute: Attribute;
  readonly comparable: Comparable;
  readonly position: Position;
}

const tooMany = `has more than ${maxComparisons} comparisons; simplify it`;

const operatorNames = ["not", "in", "notIn", "lt", "lte", "gt", "gte", "contains", "startsWith", "isNull"];
