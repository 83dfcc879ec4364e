// Parses the conditions of a field: a value, a list, or operators.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { type Comparable, comparableOf } from "./comparable.ts";
import type { Condition, Operator, Value } from "./condition.ts";
import { describeValue, isPlainObject } from "./plain-object.ts";
import { searchOf } from "./search-condition.ts";
import { type Position, WhereContext } from "./where-context.ts";

/** More values would be a list of rows, which belongs in the database. */
const maxValues = 1_000;

const operatorNames = ["not", "in", "notIn", "lt", "lte", "gt", "gte", "contains", "startsWith", "isNull"];

interface Compared {
  readonly resource: ResourceModel;
  readonly attribute: Attribute;
  readonly comparable: Comparable;
  readonly position: Position;
}

export class FieldParser extends WhereContext {
  protected field(
    resource: ResourceModel,
    attribute: Attribute,
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    this.requireNotInternal(resource, attribute.name, attribute.isInternal);
    const comparable = comparableOf(attribute);
    if (!comparable)
      this.refuse(
        resource,
        attribute.name,
        "names it, but JSON and lists of numbers with fractions cannot be compared; use another field",
      );
    const compared: Compared = { resource, attribute, comparable, position };
    if (!isPlainObject(value)) return [this.#oneOf(compared, "in", Array.isArray(value) ? value : [value])];
    const operators = Object.entries(value);
    if (operators.length === 0)
      this.refuse(resource, attribute.name, `compares it with {}; use ${operatorNames.join(", ")}`);
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
        if (operand === undefined) return this.#oneOf(compared, operator, [undefined]);
        if (!Array.isArray(operand))
          this.refuse(resource, name, `has ${describeValue(operand)} for ${operator}; write a list`);
        return this.#oneOf(compared, operator, operand);
      case "isNull":
        if (operand === undefined) return this.#oneOf(compared, "in", [undefined]);
        if (typeof operand !== "boolean") this.refuse(resource, name, "has isNull that is not true or false");
        this.count(resource);
        return { attribute: compared.attribute, operator: operand ? "in" : "notIn", values: [null] };
      case "lt":
      case "lte":
      case "gt":
      case "gte":
      case "contains":
      case "startsWith":
        return this.#ordered(compared, operator, operand);
      default:
        return this.refuse(
          resource,
          name,
          `has ${operator} for it, which is unknown; use ${operatorNames.join(", ")}`,
        );
    }
  }

  #ordered(compared: Compared, operator: Exclude<Operator, "in" | "notIn">, operand: unknown): Condition {
    const { resource, attribute, comparable, position } = compared;
    const isSearch = operator === "contains" || operator === "startsWith";
    if (attribute.element)
      this.refuse(
        resource,
        attribute.name,
        `has ${operator} for it, but a list is compared by its elements; use in, notIn or not`,
      );
    if (attribute.statusRules)
      this.refuse(resource, attribute.name, `has ${operator} for it, but a status has no order; use in`);
    if (isSearch && !comparable.isText)
      this.refuse(
        resource,
        attribute.name,
        `has ${operator} for it, but it is not text; use another operator`,
      );
    this.count(resource);
    if (this.#isUnknown(compared, operand)) return this.unknownIn(position);
    const value = this.#value(compared, operand);
    return isSearch ? searchOf(attribute, operator, String(value)) : { attribute, operator, values: [value] };
  }

  #oneOf(compared: Compared, operator: "in" | "notIn", values: readonly unknown[]): Condition {
    const { resource, attribute, position } = compared;
    this.count(resource);
    if (values.length > maxValues)
      this.refuse(resource, attribute.name, `has more than ${maxValues} values; use fewer`);
    const known = values.filter((each) => !this.#isUnknown(compared, each));
    // A value that is refused is refused whatever the others are.
    const parsed = known.map((each) => this.#value(compared, each));
    if (known.length < values.length) {
      const ofUnknown = this.unknownIn(position);
      // Whether a row has a value that is unknown is unknown; only what is certain without it may be met.
      if (known.length === 0 || (operator === "in") === position.isNegated) return ofUnknown;
    }
    return { attribute, operator, values: [...new Set(parsed)] };
  }

  #isUnknown({ resource, attribute }: Compared, value: unknown): boolean {
    if (value === null) this.refuseNull(resource, attribute.name);
    if (value === undefined) this.refuseUndefined(resource, attribute.name);
    return value === undefined || value === null;
  }

  #value({ resource, attribute, comparable }: Compared, value: unknown): NonNullable<Value> {
    return (
      comparable.parse(value) ??
      this.refuse(
        resource,
        attribute.name,
        `compares it with a value that is not ${comparable.expected}; use ${comparable.expected}, or a list of such values`,
      )
    );
  }
}
