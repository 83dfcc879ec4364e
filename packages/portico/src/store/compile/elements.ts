// Comparisons of the elements of lists as SQL. A statement reads the list of each row, so any list can be compared; a page
// that an element selects walks the index of elements instead (`element-walk.ts`).

import { sql } from "kysely";
import { type Comparison, type Condition, isBoundAsList } from "../../query/condition.ts";
import type { Dialect } from "../dialect.ts";
import { boundList, boundValue } from "./bound-value.ts";
import type { Expression, GetFrom } from "./input.ts";

/** Whether an element of the list is one of the values; null among them stands for a list without elements. */
export function elementComparison(
  dialect: Dialect,
  list: Expression,
  condition: Comparison,
  getConditions: GetFrom<readonly Condition[]>,
  index: number,
): Expression {
  const { attribute, operator, values } = condition;
  const element = attribute.element!;
  const elements = sql`select 1 from ${dialect.elementsOf(element.field.kind, list)} as element`;
  const value = sql`element.value`;
  const isOneOf = (): Expression => {
    if (isBoundAsList(condition))
      return dialect.isOneOfList(element, value, boundList(dialect, element, getConditions, index));
    const bound = values.flatMap((each, position) =>
      each === null ? [] : [boundValue(dialect, element, getConditions, index, position)],
    );
    return sql`${value} in (${sql.join(bound)})`;
  };
  const matches = [
    ...(values.some((each) => each !== null) ? [sql`exists (${elements} where ${isOneOf()})`] : []),
    ...(values.includes(null) ? [sql`not exists (${elements} where ${value} is not null)`] : []),
  ];
  const isMatch = matches.length === 0 ? sql`1 = 0` : sql.join(matches, sql` or `);
  return operator === "in" ? sql`(${isMatch})` : sql`(not (${isMatch}))`;
}

/** A query of the ids in a many-to-many field. */
export function linkedIds(dialect: Dialect, list: Expression): Expression {
  return sql`select element.value from ${dialect.elementsOf("id", list)} as element`;
}
