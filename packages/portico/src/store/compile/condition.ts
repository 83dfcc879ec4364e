// Conditions as SQL. Their values are parameters, except null, which is part of the text.

import { sql } from "kysely";
import type { Attribute } from "../../model/model.ts";
import { type Comparison, type Condition, isComparison, type ReferenceCondition } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { attributeValue, nextAlias } from "./columns.ts";
import {
  type Expression,
  type GetFrom,
  getConditions as getOwnConditions,
  planParameter,
  tenantParameter,
} from "./input.ts";

type GetConditions = GetFrom<readonly Condition[]>;

interface Subset {
  /** The conditions to compile, by default all. Their values keep the indexes that they have among all. */
  readonly subset?: readonly Condition[];
  readonly getConditions?: GetConditions;
}

/** Conditions on the row `alias` as SQL. */
export function conditionsOf(
  dialect: Dialect,
  alias: string,
  all: readonly Condition[],
  { subset = all, getConditions = getOwnConditions }: Subset = {},
): Expression[] {
  return subset.map((condition) => {
    const index = all.indexOf(condition);
    if (condition.operator !== "is") return comparison(dialect, alias, condition, getConditions, index);
    const { attribute } = condition;
    const known = knownReference(all, attribute);
    const target = known
      ? {
          tenantId: tenantParameter(),
          id: boundValue(dialect, attribute, getConditions, all.indexOf(known), 0),
        }
      : { tenantId: sql.ref(`${alias}.tenant_id`), id: sql.ref(`${alias}.${attribute.column}`) };
    return referencedRowMatches(
      dialect,
      nextAlias(alias),
      target,
      condition,
      (input) =>
        // A statement is bound to conditions of the shape it was compiled from.
        (getConditions(input)[index] as ReferenceCondition).conditions,
    );
  });
}

/**
 * The comparison that fixes a reference to one id. The conditions on the referenced row are then checked once, with that
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

function comparison(
  dialect: Dialect,
  alias: string,
  { attribute, operator, values }: Comparison,
  getConditions: GetConditions,
  index: number,
): Expression {
  const column = attributeValue(dialect, alias, attribute);
  const bound = values.flatMap((value, valueIndex) =>
    value === null && operator === "in"
      ? []
      : [boundValue(dialect, attribute, getConditions, index, valueIndex)],
  );
  if (operator !== "in") return sql`${column} ${sql.raw(comparisons[operator])} ${bound[0]}`;
  const any = bound.length === 1 ? sql`${column} = ${bound[0]}` : sql`${column} in (${sql.join(bound)})`;
  if (bound.length === values.length) return bound.length === 0 ? sql`1 = 0` : any;
  return bound.length === 0 ? sql`${column} is null` : sql`(${any} or ${column} is null)`;
}

const comparisons = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

/** Whether a row with this id exists in the referenced resource and meets the conditions. */
function referencedRowMatches(
  dialect: Dialect,
  alias: string,
  { tenantId, id }: { readonly tenantId: Expression; readonly id: Expression },
  { attribute, conditions }: ReferenceCondition,
  getConditions: GetConditions,
): Expression {
  const matching = [
    sql`${sql.ref(`${alias}.tenant_id`)} = ${tenantId}`,
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { getConditions }),
  ];
  const { table } = attribute.reference!.target;
  return sql`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
}

/** A value of the comparison at `index`, encoded as its column stores it. */
export function boundValue(
  dialect: Dialect,
  attribute: Attribute,
  getConditions: GetConditions,
  index: number,
  valueIndex: number,
): Expression {
  return planParameter((input) =>
    // A statement is bound to conditions of the shape it was compiled from.
    dialect.encode(attribute, (getConditions(input)[index] as Comparison).values[valueIndex]),
  );
}
