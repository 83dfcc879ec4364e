// Conditions on what texts contain.

import { prefixEnd } from "../lib/prefix-end.ts";
import type { Attribute } from "../model/model.ts";
import type { Condition } from "./condition.ts";

/** `contains` or `startsWith`; every text, but not null, has the empty text. */
export function searchOf(attribute: Attribute, operator: "contains" | "startsWith", text: string): Condition {
  if (text === "") return { attribute, operator: "notIn", values: [null] };
  // Nothing sorts after texts that begin with the last character of Unicode.
  if (operator === "startsWith" && prefixEnd(text) === undefined)
    return { attribute, operator: "gte", values: [text] };
  return { attribute, operator, values: [text] };
}
