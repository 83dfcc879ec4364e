// The values of comparisons as parameters of a statement.

import type { Attribute } from "../../model/model.ts";
import type { Comparison, Condition } from "../../query/condition.ts";
import type { Dialect } from "../dialect.ts";
import { type Expression, type GetFrom, planParameter } from "./input.ts";

/**
 * A value of the comparison at `index`.
 * @param encode converts it into the form that the driver binds, by default as its column stores it
 */
export function boundValue(
  dialect: Dialect,
  attribute: Attribute,
  getConditions: GetFrom<readonly Condition[]>,
  index: number,
  valueIndex: number,
  encode: (dialect: Dialect, attribute: Attribute, value: unknown) => unknown = encoded,
): Expression {
  return planParameter((input) => {
    // A statement is bound to conditions of the shape it was compiled from.
    const value = (getConditions(input)[index] as Comparison).values[valueIndex];
    return encode(dialect, attribute, value);
  }, attribute.name);
}

function encoded(dialect: Dialect, attribute: Attribute, value: unknown): unknown {
  return dialect.encode(attribute, value);
}

/** All values of the comparison at `index` but null, as one JSON array. */
export function boundList(
  dialect: Dialect,
  attribute: Attribute,
  getConditions: GetFrom<readonly Condition[]>,
  index: number,
): Expression {
  return planParameter((input) => {
    // A statement is bound to conditions of the shape it was compiled from.
    const { values } = getConditions(input)[index] as Comparison;
    const bound = values.filter((each) => each !== null).map((each) => dialect.encode(attribute, each));
    // JSON has no integers beyond those that JavaScript represents exactly.
    return JSON.stringify(bound.map((each) => (typeof each === "bigint" ? String(each) : each)));
  }, attribute.name);
}
