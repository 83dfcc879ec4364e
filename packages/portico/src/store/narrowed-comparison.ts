// The comparison of ids that means the same as a condition on related rows at the moment, where few rows meet it. These
// rows are found by the indexes of the related rows.

import type { Attribute, ResourceModel } from "../model/model.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  maxFewIds,
  maxSeparateValues,
} from "../query/condition.ts";
import { type FewRows, isAnchor } from "./compile/few-rows.ts";
import type { ColumnValues } from "./database.ts";

/** Rows that one statement finds. */
export const maxRows = maxFewIds;
/** Statements that look for rows before one list. */
const maxStatements = 4;
/**
 * Each value of a reference has an index range of its own in the statement of the list. They are filled up to one of these
 * numbers, so that they share few statements.
 */
const numbersOfRanges = [1, 2, 5, 10, maxSeparateValues];
/** An id that no row has. */
const noId = "";

/** Finds rows for one list. */
export interface Search {
  readonly find: (rows: FewRows) => Promise<readonly ColumnValues[] | undefined>;
  statements: number;
}

/** The comparison of a many-to-many field that means the same as a condition on its rows, if these are few. */
export async function linkedComparison(
  search: Search,
  condition: Condition,
): Promise<Comparison | undefined> {
  if (condition.operator !== "some" || !condition.attribute.links) return undefined;
  const { attribute, resource, conditions } = condition;
  return oneOf(attribute, await valuesOf(search, resource, idOf(resource), conditions));
}

/** The comparison of an id or a reference that means the same as a condition now; undefined if more than a few rows meet it. */
export async function comparisonFor(
  search: Search,
  resource: ResourceModel,
  condition: Condition,
): Promise<Comparison | undefined> {
  if (isComparison(condition)) return undefined;
  const { operator, conditions } = condition;
  if (operator === "not" || (operator === "some" && condition.attribute.links)) return undefined;
  if (operator === "is") {
    const { attribute } = condition;
    const { target } = attribute.reference!;
    return oneOf(attribute, await valuesOf(search, target, idOf(target), conditions));
  }
  if (operator === "some")
    return oneOf(idOf(resource), await valuesOf(search, condition.resource, condition.attribute, conditions));
  if (operator === "and")
    return oneOf(idOf(resource), await valuesOf(search, resource, idOf(resource), conditions));
  const ids: string[] = [];
  for (const each of conditions) {
    const ofOne = await valuesOf(search, resource, idOf(resource), [each]);
    if (!ofOne) return undefined;
    ids.push(...ofOne);
  }
  return oneOf(idOf(resource), [...new Set(ids)]);
}

/** The values of a column of the rows that meet all conditions; undefined if an index does not show that they are few. */
async function valuesOf(
  search: Search,
  resource: ResourceModel,
  column: Attribute,
  conditions: readonly Condition[],
): Promise<readonly string[] | undefined> {
  const anchored = await anchoredConditions(search, resource, conditions);
  if (!anchored) return undefined;
  const [{ attribute, values }, ...others] = anchored;
  if (values.length === 0) return [];
  // Whether a row has the id shows when the rows with these ids are read; whether a row refers to another must be read.
  if (column.name === "id" && attribute === column && others.length === 0)
    return values.map(String).filter((each) => each !== noId);
  search.statements += 1;
  if (search.statements > maxStatements) return undefined;
  const rows = await search.find({ resource, column, conditions: anchored });
  if (!rows) return undefined;
  const meeting = rows.filter(([value, isMet]) => isMet === 1 && value !== null);
  return [...new Set(meeting.map(([value]) => String(value)))];
}

/** The conditions with one first by which an index finds the rows; undefined if there is none. */
async function anchoredConditions(
  search: Search,
  resource: ResourceModel,
  conditions: readonly Condition[],
): Promise<FewRows["conditions"] | undefined> {
  const anchors = conditions.filter(
    (each): each is Comparison => isAnchor(resource, each) && each.values.length <= maxRows,
  );
  const anchor = anchors.find(({ attribute }) => attribute.reference || attribute.unique) ?? anchors[0];
  if (anchor) return [anchor, ...conditions.filter((each) => each !== anchor)];
  for (const condition of conditions) {
    const comparison = await comparisonFor(search, resource, condition);
    if (comparison) return [filled(comparison), ...conditions.filter((each) => each !== condition)];
  }
  return undefined;
}

function oneOf(attribute: Attribute, values: readonly string[] | undefined): Comparison | undefined {
  const max = attribute.name === "id" ? maxFewIds : maxSeparateValues;
  return values && values.length <= max ? { attribute, operator: "in", values } : undefined;
}

function idOf({ attribute }: ResourceModel): Attribute {
  return attribute.get("id")!;
}

/** The same comparison with a value for each of its ranges. A list of several ids is one parameter, whatever its length. */
export function filled(comparison: Comparison): Comparison {
  const { attribute, values } = comparison;
  const number = attribute.name === "id" ? 2 : numbersOfRanges.find((each) => each >= values.length)!;
  if (values.length >= number) return comparison;
  return {
    ...comparison,
    values: [...values, ...Array.from({ length: number - values.length }, () => noId)],
  };
}
