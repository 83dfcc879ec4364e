// Selections that need no statement of their own, because the row is known already.

import { constantFill } from "../model/fill.ts";
import type { Attribute } from "../model/model.ts";
import type { Selection } from "./read.ts";
import type { RowValues } from "./write.ts";

/** The selection of a row as JSON text; undefined if it includes other rows. */
export function ownText(row: RowValues, { members }: Selection): string | undefined {
  const parts: string[] = [];
  for (const member of members) {
    if (member.kind !== "value" && member.kind !== "constant") return undefined;
    const value = member.kind === "value" ? recordedValue(row, member.attribute) : member.text;
    parts.push(`${JSON.stringify(member.name)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(",")}}`;
}

/** A process of an earlier version records rows without a field that has been added, or without its value. */
function recordedValue(row: RowValues, attribute: Attribute): unknown {
  return row[attribute.name] ?? constantFill(attribute) ?? constantDefault(attribute) ?? null;
}

function constantDefault({ field, isNullable }: Attribute): unknown {
  if (isNullable || field.kind === "belongsTo" || field.kind === "timestamp") return undefined;
  const value: unknown = "default" in field.options ? field.options.default : undefined;
  if (field.kind === "date" && value === "today") return undefined;
  return typeof value === "function" ? undefined : value;
}

/** Whether a selection includes fields of the row only. */
export function isOwn({ members }: Selection): boolean {
  return members.every(({ kind }) => kind === "value" || kind === "constant");
}
