// Conditions as SQL. Their values are parameters, except null, which is part of the text.
//
// SQL has a third truth value for comparisons with null. It counts as false everywhere except below `not`, which is
// therefore written as `is not true`.

import { sql } from "kysely";
import { prefixEnd } from "../../lib/prefix-end.ts";
import type { Attribute } from "../../model/model.ts";
import {
  type Combination,
  type Comparison,
  type Condition,
  isBoundAsList,
  isComparison,
  type RelatedCondition,
} from "../../query/condition.ts";
import type { Dialect } from "../dialect.ts";
import { attributeValue, nextAlias } from "./columns.ts";
import {
  type Expression,
  type GetFrom,
  getConditions as getOwnConditions,
  isOfTenant,
  planParameter,
} from "./input.ts";

type GetConditions = GetFrom<readonly Condition[]>;

interface Subset {
  /** The conditions to compile, by default all. Their values keep the indexes that they have among all. */
  readonly subset?: readonly Condition[];
  readonly getConditions?: GetConditions;
  /** Whether a row must meet all of them, by default true; if any is enough, none says anything about the others. */
  readonly mustMeetAll?: boolean;
}

/** Conditions on the row `alias` as SQL. */
export function conditionsOf(
  dialect: Dialect,
  alias: string,
  all: readonly Condition[],
  { subset = all, getConditions = getOwnConditions, mustMeetAll = true }: Subset = {},
): Expression[] {
  return subset.map((condition) => {
    const index = all.indexOf(condition);
    if (isComparison(condition)) return comparison(dialect, alias, condition, getConditions, index);
    const getInner: GetConditions = (input) =>
      // A statement is bound to conditions of the shape it was compiled from.
      (getConditions(input)[index] as Exclude<Condition, Comparison>).conditions;
    if (condition.operator === "is") {
      const known = mustMeetAll ? knownReference(all, condition.attribute) : undefined;
      const id = known
        ? boundValue(dialect, condition.attribute, getConditions, all.indexOf(known), 0)
        : sql.ref(`${alias}.${condition.attribute.column}`);
      const { table } = condition.attribute.reference!.target;
      return relatedRowExists(dialect, alias, condition, getInner, { table, column: "id", equals: id });
    }
    if (condition.operator === "some") {
      const { table } = condition.resource;
      const join = { table, column: condition.attribute.column, equals: sql.ref(`${alias}.id`) };
      return relatedRowExists(dialect, alias, condition, getInner, join);
    }
    return combination(dialect, alias, condition, getInner);
  });
}

/**
 * The comparison that fixes a reference to one id, among conditions that must all be met. The conditions on the referenced row are then checked once, with that
 * id, and not for each row that refers to it.
 */
export function knownReference(all: readonly Condition[], attribute: Attribute): Comparison | undefined {
  return all
    .filter(isComparison)
    .find(
      ({ attribute: compared, operator, values }) =>
        compared === attribute && operator === "in" && values.length === 1 && values[0] !== null,
    );
}

function combination(
  dialect: Dialect,
  alias: string,
  { operator, conditions }: Combination,
  getConditions: GetConditions,
): Expression {
  const inner = conditionsOf(dialect, alias, conditions, { getConditions, mustMeetAll: operator !== "or" });
  if (operator === "or") return inner.length === 0 ? sql`1 = 0` : sql`(${sql.join(inner, sql` or `)})`;
  const all = inner.length === 0 ? sql`1 = 1` : sql.join(inner, sql` and `);
  return operator === "and" ? sql`(${all})` : sql`((${all}) is not true)`;
}

function comparison(
  dialect: Dialect,
  alias: string,
  condition: Comparison,
  getConditions: GetConditions,
  index: number,
): Expression {
  const { attribute, operator, values } = condition;
  const column = attributeValue(dialect, alias, attribute);
  const value = (valueIndex: number, convert?: (text: string) => string): Expression =>
    boundValue(dialect, attribute, getConditions, index, valueIndex, convert);
  const one = (): Expression =>
    isBoundAsList(condition)
      ? isInList(dialect, column, condition, getConditions, index)
      : isOneOf(column, values, value);
  switch (operator) {
    case "in":
      return one();
    case "notIn":
      if (values.length === 0) return sql`1 = 1`;
      if (values.every((each) => each === null)) return sql`${column} is not null`;
      return sql`(${one()} is not true)`;
    case "contains":
      return sql`${dialect.positionIn(column, value(0))} > 0`;
    case "startsWith":
      return sql`(${column} >= ${value(0)} and ${column} < ${value(0, (prefix) => prefixEnd(prefix)!)})`;
    default:
      return sql`${column} ${sql.raw(orders[operator])} ${value(0)}`;
  }
}

const orders = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

function isOneOf(
  column: Expression,
  values: readonly unknown[],
  value: (index: number) => Expression,
): Expression {
  const bound = values.flatMap((each, index) => (each === null ? [] : [value(index)]));
  const any = bound.length === 1 ? sql`${column} = ${bound[0]}` : sql`${column} in (${sql.join(bound)})`;
  if (bound.length === values.length) return bound.length === 0 ? sql`1 = 0` : any;
  return bound.length === 0 ? sql`${column} is null` : sql`(${any} or ${column} is null)`;
}

/** The same with all values as one parameter. */
function isInList(
  dialect: Dialect,
  column: Expression,
  { attribute, values }: Comparison,
  getConditions: GetConditions,
  index: number,
): Expression {
  const list = planParameter((input) => {
    const { values: bound } = getConditions(input)[index] as Comparison;
    return JSON.stringify(
      bound.filter((each) => each !== null).map((each) => dialect.encode(attribute, each)),
    );
  }, attribute.name);
  const isInList = dialect.isOneOfList(attribute, column, list);
  return values.includes(null) ? sql`(${isInList} or ${column} is null)` : isInList;
}

/** Whether a related row of the tenant exists and meets the conditions. */
function relatedRowExists(
  dialect: Dialect,
  outer: string,
  { conditions }: RelatedCondition,
  getConditions: GetConditions,
  { table, column, equals }: { readonly table: string; readonly column: string; readonly equals: Expression },
): Expression {
  const alias = nextAlias(outer);
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.${column}`)} = ${equals}`,
    ...conditionsOf(dialect, alias, conditions, { getConditions }),
  ];
  return sql`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
}

/**
 * A value of the comparison at `index`, encoded as its column stores it.
 * @param convert converts a text before it is bound
 */
export function boundValue(
  dialect: Dialect,
  attribute: Attribute,
  getConditions: GetConditions,
  index: number,
  valueIndex: number,
  convert: (text: string) => string = (text) => text,
): Expression {
  return planParameter((input) => {
    // A statement is bound to conditions of the shape it was compiled from.
    const value = (getConditions(input)[index] as Comparison).values[valueIndex];
    return dialect.encode(attribute, typeof value === "string" ? convert(value) : value);
  }, attribute.name);
}
