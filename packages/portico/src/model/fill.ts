// The values that rows without a value get: `fill` of a field that was added or became required.

import type { Attribute } from "./model.ts";

/** What a response shows for a row that has no value yet; undefined if only the migration can tell. */
export function constantFill({ fill }: Attribute): unknown {
  return typeof fill === "function" ? undefined : fill;
}

/** Whether a response can show null. */
export function isNullableWhenRead(attribute: Attribute): boolean {
  return attribute.isNullable && constantFill(attribute) === undefined;
}
