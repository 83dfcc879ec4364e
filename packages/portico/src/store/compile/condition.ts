// Conditions as SQL. Their values are parameters, except null, which is part of the text.
//
// SQL has a third truth value for comparisons with null. It counts as false everywhere except below `not`, which is
// therefore written as `is not true`.

import { sql } from "kysely";
import { prefixEnd } from "../../lib/prefix-end.ts";
import type { Attribute } from "../../model/model.ts";
import { deletionColumns } from "../../model/soft-deletion.ts";
import {
  type Combination,
  type Comparison,
  type Condition,
  isBoundAsList,
  isComparison,
  type RelatedCondition,
} from "../../query/condition.ts";
import type { Dialect } from "../dialect.ts";
import { boundList, boundValue } from "./bound-value.ts";
import { attributeValue, boundSortValue, nextAlias, sortedValue } from "./columns.ts";
import { elementComparison, linkedIds } from "./elements.ts";
import { type Expression, type GetFrom, getConditions as getOwnConditions, isOfTenant } from "./input.ts";

type GetConditions = GetFrom<readonly Condition[]>;

interface Subset {
  /** The conditions to compile, by default all. Their values keep the indexes that they have among all. */
  readonly subset?: readonly Condition[];
  readonly getConditions?: GetConditions;
  /** Whether a row must meet all of them, by default true; if any is enough, none says anything about the others. */
  readonly mustMeetAll?: boolean;
  /**
   * Whether related rows are looked up for each row, of which there are few. Otherwise PostgreSQL may find all related
   * rows first, which it expects to be few if it does not know the values.
   */
  readonly isForEachRow?: boolean;
}

/** Conditions on the row `alias` as SQL. */
export function conditionsOf(
  dialect: Dialect,
  alias: string,
  all: readonly Condition[],
  { subset = all, getConditions = getOwnConditions, mustMeetAll = true, isForEachRow = false }: Subset = {},
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
      const join = { table, column: "id", equals: id, isForEachRow };
      return relatedRowExists(dialect, alias, condition, getInner, join);
    }
    if (condition.operator === "some") {
      const { table } = condition.resource;
      const { column, links } = condition.attribute;
      const equals = sql.ref(`${alias}.id`);
      const deletion = condition.resource.deletedOf && sql.ref(`${alias}.${deletionColumns.with}`);
      const join = links
        ? { table, column: "id", ids: linkedIds(dialect, sql.ref(`${alias}.${column}`)), isForEachRow }
        : { table, column, equals, isForEachRow, deletion };
      return relatedRowExists(dialect, alias, condition, getInner, join);
    }
    return combination(dialect, alias, condition, getInner, isForEachRow);
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
  isForEachRow: boolean,
): Expression {
  const mustMeetAll = operator !== "or";
  const inner = conditionsOf(dialect, alias, conditions, { getConditions, mustMeetAll, isForEachRow });
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
  if (attribute.element) return elementComparison(dialect, column, condition, getConditions, index);
  const value = (valueIndex: number, convert = (text: string): string => text): Expression =>
    boundValue(dialect, attribute, getConditions, index, valueIndex, (_, each, text) =>
      dialect.encode(each, typeof text === "string" ? convert(text) : text),
    );
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
    default: {
      const bound = boundValue(dialect, attribute, getConditions, index, 0, boundSortValue);
      return sql`${sortedValue(alias, attribute)} ${sql.raw(orders[operator])} ${bound}`;
    }
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
  const list = boundList(dialect, attribute, getConditions, index);
  const isInList = dialect.isOneOfList(attribute, column, list);
  return values.includes(null) ? sql`(${isInList} or ${column} is null)` : isInList;
}

/** The related rows of a row: those of the table whose column equals a value, or one of several. */
interface Join {
  readonly table: string;
  readonly column: string;
  readonly equals?: Expression;
  /** A query of the values. */
  readonly ids?: Expression;
  readonly isForEachRow: boolean;
  /** For deleted rows: the deletion of the row, which they must have been part of. */
  readonly deletion?: Expression | undefined;
}

/** Whether a related row of the tenant exists and meets the conditions. */
function relatedRowExists(
  dialect: Dialect,
  outer: string,
  { conditions }: RelatedCondition,
  getConditions: GetConditions,
  { table, column, equals, ids, isForEachRow, deletion }: Join,
): Expression {
  const alias = nextAlias(outer);
  const related = sql.ref(`${alias}.${column}`);
  const matching = [
    isOfTenant(alias),
    ids ? dialect.isOneOfRows(related, ids) : sql`${related} = ${equals}`,
    ...(deletion ? [sql`${sql.ref(`${alias}.${deletionColumns.with}`)} = ${deletion}`] : []),
    ...conditionsOf(dialect, alias, conditions, { getConditions, isForEachRow }),
  ];
  const end = isForEachRow ? dialect.forEachRow : sql``;
  return sql`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)}${end})`;
}
