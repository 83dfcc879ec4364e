// What policies may read of rows that were deleted together.

import { isJson } from "../declare/field.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "./write.ts";

/** Longer texts are not compared by policies, so that the values of many rows fit into memory and into events. */
const maxPolicyText = 200;

/** Characters of a list as JSON: about 30 ids. */
const maxPolicyList = 1_000;

/** The values of a row that policies may read, without long ones. */
export function policyValues({ attributes }: ResourceModel, row: RowValues): RowValues {
  const values: Record<string, unknown> = {};
  for (const { name, field, element, isInternal } of attributes) {
    const value = row[name];
    if (isInternal || value === undefined) continue;
    if (element && JSON.stringify(value).length <= maxPolicyList) values[name] = value;
    if (isJson(field)) continue;
    if (typeof value !== "string" || value.length <= maxPolicyText) values[name] = value;
  }
  return values;
}
