// The conditions of counts, which declarations write as policies do.

import { OperatorError } from "../errors.ts";
import type { CountModel, Model } from "../model/model.ts";
import { areDecidedByRow, type Condition, isComparison, maxSeparateValues } from "./condition.ts";
import { isPlainObject } from "./plain-object.ts";
import { parseWhere } from "./where.ts";
import type { WhereOptions } from "./where-context.ts";

const parsed = new WeakMap<CountModel, readonly Condition[]>();

/**
 * The conditions that the counted rows meet, apart from policies.
 * @throws OperatorError for a declared condition that is not one
 */
export function countConditions(count: CountModel): readonly Condition[] {
  const known = parsed.get(count);
  if (known) return known;
  const { name, owner, resource, where } = count;
  const refuse: WhereOptions["refuse"] = (of, field, remedy) => {
    const subject = `resource ${of.name}${field === undefined ? "" : `, field ${field}`}`;
    throw new OperatorError(`${subject}: where of the count ${owner}.${name} ${remedy}`);
  };
  if (hasUndefined(where)) refuse(resource, undefined, "compares with undefined; name a value");
  const conditions = parseWhere(resource, where, { refusesNull: true, refuse });
  parsed.set(count, conditions);
  return conditions;
}

/** Whether a part of a condition is undefined, of which a policy would make "no row". */
function hasUndefined(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(hasUndefined);
  return part === undefined || (isPlainObject(part) && Object.values(part).some(hasUndefined));
}

/** Triggers compare with constants, and have no subqueries. */
const maxKeptValues = maxSeparateValues;

/** @throws OperatorError for a count whose condition is none, or that the database cannot keep */
export function validateCounts({ resources }: Pick<Model, "resources">): void {
  for (const { counts, keptCounts } of resources) {
    for (const each of counts.values()) countConditions(each);
    for (const each of keptCounts) validateKept(each, countConditions(each));
  }
}

function validateKept(count: CountModel, conditions: readonly Condition[]): void {
  const refuse = (remedy: string): never => {
    throw new OperatorError(`resource ${count.owner}, field ${count.name}: ${remedy}`);
  };
  for (const condition of conditions) {
    if (!isComparison(condition)) {
      if (!areDecidedByRow([condition]))
        refuse("a kept count compares fields of the counted rows only; remove the related rows, or kept");
      validateKept(count, condition.conditions);
      continue;
    }
    const { attribute, values } = condition;
    if (attribute.statusRules)
      refuse(`a kept count does not change with time; compare timestamps, or remove kept`);
    if (values.length > maxKeptValues)
      refuse(`a kept count compares ${attribute.name} with at most ${maxKeptValues} values; use fewer`);
  }
}
