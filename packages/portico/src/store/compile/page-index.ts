// Which index a page of rows is read along. The indexes are those of the model (`model/indexes.ts`).

import { orderedChoices } from "../../declare/field.ts";
import type { Attribute, IndexModel } from "../../model/model.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  isOfFewIds,
  maxSeparateValues,
  type Operator,
} from "../../query/condition.ts";
import type { Read, Sort } from "../../query/read.ts";
import { knownReference } from "./condition.ts";
import { elementWalk, isInElementRange } from "./element-walk.ts";

/**
 * Whether the page is a walk along one index: the index begins with what all conditions compare and continues with the
 * sort, or a unique index leaves only a few rows.
 */
export function isIndexed(read: Read): boolean {
  const { resource, sort, conditions } = read;
  const [{ attribute: sorted }] = sort;
  const others = conditions.filter(
    (condition) => condition !== read.impliedCondition && !isCheckedOnce(condition, conditions),
  );
  const elements = elementWalk(read);
  if (elements) return others.every((each) => each === elements || isInElementRange(read, each));
  if (!others.every(isOfColumn)) return false;
  const equalities = others.filter(isEquality);
  if (equalities.some(isOfFewIds)) return true;
  if (!areBranches(equalities, sort)) return false;
  const compared = equalities.map(({ attribute }) => attribute);
  if (isOfFewRows(read, equalities)) return true;
  // Rows with equal sort values are read from the first one on.
  if (sort.some(({ attribute }) => compared.includes(attribute)) || new Set(compared).size < compared.length)
    return false;
  const ranges = others.filter((condition) => !isEquality(condition));
  // A range is part of the walk if the first key of the sort is what it limits. The index of a filter is not read in parts.
  if (ranges.length > 1 || ranges.some(({ attribute }) => attribute !== sorted)) return false;
  if (ranges.length === 1 && compared.some((attribute) => attribute !== resource.parent)) return false;
  return resource.indexes.some((index) => hasOrder(index, compared, sort));
}

/**
 * The conditions that an index in the order of the page serves, so that a walk along it reads no row that fails them;
 * undefined if there is no such index. Where no index serves all conditions, it is that of the sort alone.
 */
export function walkedConditions(read: Read): readonly Condition[] | undefined {
  const { resource, sort, conditions } = read;
  const elements = elementWalk(read);
  if (elements?.values.length === 1)
    return conditions.filter((each) => each === elements || isInElementRange(read, each));
  const isOneRange = conditions.every(
    (condition) => !isComparison(condition) || condition.operator !== "in" || condition.values.length === 1,
  );
  if (isOneRange && isIndexed(read)) return conditions;
  const comparisons = conditions.filter(isComparison);
  if (isOneRange && isIndexed({ ...read, conditions: comparisons })) return comparisons;
  const container = conditions.filter(
    (condition) =>
      isComparison(condition) &&
      condition.attribute === resource.parent &&
      condition.operator === "in" &&
      condition.values.length === 1,
  );
  const compared = resource.parent ? [resource.parent] : [];
  if (container.length < compared.length) return undefined;
  if (!resource.indexes.some((index) => hasOrder(index, compared, sort))) return undefined;
  const ranges = conditions.filter(
    (condition) =>
      isOfColumn(condition) && !isEquality(condition) && condition.attribute === sort[0].attribute,
  );
  return [...container, ...ranges];
}

/** Whether a condition on a referenced row is checked once for the page, because the reference is known. */
function isCheckedOnce(condition: Condition, all: readonly Condition[]): boolean {
  return condition.operator === "is" && knownReference(all, condition.attribute) !== undefined;
}

/** Whether an index can find the rows that meet a condition. */
function isOfColumn(condition: Condition): condition is Comparison {
  if (!isComparison(condition) || isWalked.has(condition.operator)) return false;
  return !condition.attribute.statusRules && !condition.attribute.element;
}

/** Operators that are evaluated on each row of the walk. */
const isWalked: ReadonlySet<Operator> = new Set(["notIn", "contains"]);

function isEquality({ operator }: Comparison): boolean {
  return operator === "in";
}

/** Whether the values are few enough for one range of the index each, or several if there are several sorts. */
function areBranches(equalities: readonly Comparison[], sort: Sort): boolean {
  const several = equalities.filter(({ values }) => values.length > 1);
  return (
    several.length <= 1 && several.every(({ values }) => values.length <= maxSeparateValues / sort.length)
  );
}

/** Whether the rows that meet the conditions are at most as many as their values. */
function isOfFewRows({ resource }: Read, equalities: readonly Comparison[]): boolean {
  const compared = equalities.filter(({ values }) => !values.includes(null)).map((each) => each.attribute);
  return resource.indexes.some(
    ({ unique, columns }) => unique && columns.every(({ attribute }) => compared.includes(attribute)),
  );
}

/**
 * Whether an index begins with these attributes, in any order, and then has the order of the page: the keys of the sort,
 * all of them in the direction of the page or all in the other, and the id.
 */
function hasOrder({ unique, columns }: IndexModel, compared: readonly Attribute[], sort: Sort): boolean {
  if (unique || columns.length !== compared.length + sort.length + 1) return false;
  const isReversed = columns.at(-2)!.isDescending !== sort.at(-1)!.isDescending;
  const isInOrder = sort.every(({ attribute, isDescending }, index) => {
    const column = columns[compared.length + index]!;
    const isRanked = orderedChoices(attribute.field) !== undefined;
    if (isRanked !== (column.isRanked === true)) return false;
    return column.attribute === attribute && (column.isDescending !== isDescending) === isReversed;
  });
  return (
    isInOrder &&
    columns.slice(0, compared.length).every((each) => !each.isRanked && compared.includes(each.attribute))
  );
}
