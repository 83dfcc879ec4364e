// Evaluates conditions on a row in memory, with the same result as in the database.

import type { Comparison, Value } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";

/** Whether a row meets all conditions. A value that the row does not have meets none, not even `null`. */
export function satisfiesAll(conditions: readonly Comparison[], row: RowValues): boolean {
  return conditions.every((condition) => satisfies(condition, row));
}

function satisfies({ attribute, operator, values }: Comparison, row: RowValues): boolean {
  // A field may be called `constructor`, which every object inherits.
  if (!Object.hasOwn(row, attribute.name)) return false;
  // A value of a filtered attribute is never an object.
  const value = row[attribute.name] as Value;
  if (operator === "in") return values.includes(value);
  const order = compare(value, values[0]!);
  if (order === undefined) return false;
  switch (operator) {
    case "gte":
      return order >= 0;
    case "gt":
      return order > 0;
    case "lte":
      return order <= 0;
    case "lt":
      return order < 0;
  }
}

/** Compares text byte by byte, as both databases do; undefined for null, which has no order. */
function compare(one: Value, other: Value): number | undefined {
  if (one === null || other === null) return undefined;
  if (typeof one === "string" && typeof other === "string")
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}
