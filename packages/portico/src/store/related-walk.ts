// A walk along the index of a list's sort for conditions on related rows that many rows meet. It ends after some rows, so
// that it takes little time; if the page is not complete then, a slow read runs in its place.

import { type CollectionCondition, type Condition, isComparison, isRelated } from "../query/condition.ts";
import type { Read } from "../query/read.ts";
import { isIndexed, walkedConditions } from "./compile/page-index.ts";
import { rowLimit } from "./compile/row-limit.ts";
import { isLong } from "./compile/row-size.ts";
import type { SearchAccess } from "./compile/search-access.ts";

/** Rows that the walk reads at most, as a multiple of those of the page, and in addition to it. */
const walkedPerRow = 4;
const walkedInAddition = 100;
/** Related rows that are looked up for each row of the walk, and comparisons of each. */
const maxRelated = 3;
const maxComparisons = 20;

/** The access of such a walk; undefined if the page needs none, or checking a row may take long. */
export function relatedWalk(read: Read): SearchAccess | undefined {
  if (read.page.style === "page" || read.words.length > 0 || isIndexed(read)) return undefined;
  if (!walkedConditions(read)) return undefined;
  const checks = { related: 0, comparisons: 0 };
  if (!read.conditions.every((condition) => isCheckedQuickly(condition, checks))) return undefined;
  const maxWalked = rowLimit(read) * walkedPerRow + walkedInAddition;
  return { kind: "walk", maxWalked, checkedWords: 0, isQuick: true };
}

/** Whether a row is checked for a condition by few rows of indexes. @param checks counts what is checked so far */
function isCheckedQuickly(condition: Condition, checks: { related: number; comparisons: number }): boolean {
  if (isComparison(condition)) {
    checks.comparisons += 1;
    return checks.comparisons <= maxComparisons && !isLong(condition.attribute);
  }
  if (isRelated(condition)) checks.related += 1;
  if (checks.related > maxRelated || (condition.operator === "some" && !isOfFewRows(condition))) return false;
  return condition.conditions.every((each) => isCheckedQuickly(each, checks));
}

/** Whether the row names the related rows, or at most one meets the conditions, which a unique index finds. */
function isOfFewRows({ resource, attribute, conditions }: CollectionCondition): boolean {
  if (attribute.links) return true;
  const fixed = conditions
    .filter(isComparison)
    .filter(({ operator, values }) => operator === "in" && values.length === 1 && values[0] !== null);
  return resource.indexes.some(
    ({ unique, columns }) =>
      unique &&
      columns.every((column) =>
        [attribute, ...fixed.map((each) => each.attribute)].includes(column.attribute),
      ),
  );
}
