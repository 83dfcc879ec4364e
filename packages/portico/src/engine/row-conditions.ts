// Conditions, held against a row in memory as the database would hold them against the same row.

import type { Comparison, Value } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";

/** Whether a row meets all of the conditions. What a row does not have meets none: not even that it is null. */
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

/** Text is compared byte by byte, on both databases; nothing is comparable with null. */
function compare(one: Value, other: Value): number | undefined {
  if (one === null || other === null) return undefined;
  if (typeof one === "string" && typeof other === "string")
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}
