// Selections that need no statement of their own, because the row is known already.

import type { Selection } from "../../query/read.ts";
import type { RowValues } from "../../query/write.ts";

/** The selection of a row as JSON text; undefined if it includes other rows. */
export function ownText(row: RowValues, { members }: Selection): string | undefined {
  const parts: string[] = [];
  for (const member of members) {
    if (member.kind !== "value" && member.kind !== "constant") return undefined;
    // A process of an earlier version records rows without a field that has been added since.
    const value = member.kind === "value" ? (row[member.attribute.name] ?? null) : member.text;
    parts.push(`${JSON.stringify(member.name)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(",")}}`;
}

/** Whether a selection includes fields of the row only. */
export function isOwn({ members }: Selection): boolean {
  return members.every(({ kind }) => kind === "value" || kind === "constant");
}
