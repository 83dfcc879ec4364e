// Pages of rows that an element of a list selects: `tags=urgent`, newest first. They walk a range of the index of elements,
// which has the rows of each element in the order of the default sort (`schema/element-table.ts`).

import { sql } from "kysely";
import { defaultSort } from "../../model/model.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  isOfFewIds,
  maxSeparateValues,
} from "../../query/condition.ts";
import type { Read } from "../../query/read.ts";
import type { Dialect } from "../dialect.ts";
import { elementColumn, elementTableName } from "../schema/element-table.ts";
import type { Expression } from "./input.ts";

/** Where a page finds its rows `r`: along an index of their table, or of their elements. */
export interface PageSource {
  readonly from: Expression;
  /** The alias that has the columns of the index. */
  readonly alias: string;
}

/** @param read of which `elementWalk` is `walked` */
export function pageSource(dialect: Dialect, { resource }: Read, walked: Comparison | undefined): PageSource {
  if (!walked) return { from: sql`${sql.table(resource.table)} as r`, alias: "r" };
  const index = sql.table(elementTableName(resource, walked.attribute));
  const rows = dialect.joinLookedUp(resource.table, "r", sql`r.tenant_no = i.tenant_no and r.id = i.id`);
  return { from: sql`${index} as i ${rows}`, alias: "i" };
}

/** The column of the elements in the index. */
export const walkedElement: Expression = sql.ref(`i.${elementColumn}`);

/** The comparison with elements whose rows an index has in the order of the page; undefined if there is none. */
export function elementWalk({ resource, sort, page, words, conditions }: Read): Comparison | undefined {
  if (resource.elementIndexes.length === 0 || page.style === "page" || words.length > 0) return undefined;
  if (sort.length > 1 || sort[0].attribute.name !== defaultSort) return undefined;
  const comparisons = conditions.filter(isComparison);
  if (comparisons.some(isOfFewIds)) return undefined;
  if (resource.parent && !comparisons.some((each) => isContainer(resource, each))) return undefined;
  return comparisons.find(
    ({ attribute, operator, values }) =>
      resource.elementIndexes.includes(attribute) &&
      operator === "in" &&
      values.length > 0 &&
      values.length <= maxSeparateValues &&
      !values.includes(null),
  );
}

/** Whether the index of elements limits its range by a condition: by the parent, or by the time of creation. */
export function isInElementRange(
  { resource }: Pick<Read, "resource">,
  condition: Condition,
): condition is Comparison {
  if (!isComparison(condition)) return false;
  const isRange = ["gte", "gt", "lte", "lt"].includes(condition.operator);
  return isContainer(resource, condition) || (isRange && condition.attribute.name === defaultSort);
}

/** Whether a condition says that a row has one certain parent. */
function isContainer({ parent }: Read["resource"], { attribute, operator, values }: Comparison): boolean {
  return attribute === parent && operator === "in" && values.length === 1 && values[0] !== null;
}
