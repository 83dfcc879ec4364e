// How large an answer can be, by what the fields are declared to hold.

import { type FieldShape, standardMaxItems } from "../../declare/field.ts";
import type { Attribute } from "../../model/model.ts";
import type { Member, Read, ReadOne, Selection } from "../../query/read.ts";

/** A body is no longer, so neither is a value without a bound of its own. */
const maxValueBytes = 1024 * 1024;
/** A character as JSON writes it: `\u0001`. */
const maxCharacterBytes = 6;
/** Ids, timestamps, numbers; names of members. */
const smallBytes = 64;

/** The most bytes of a page's JSON. */
export function declaredListBytes({ selection, page }: Read): number {
  return page.limit * declaredRowBytes(selection);
}

/** The most bytes of a row's JSON. */
export function declaredGetBytes({ selection }: ReadOne): number {
  return declaredRowBytes(selection);
}

function declaredRowBytes({ members }: Selection): number {
  return members.reduce((bytes, member) => bytes + smallBytes + declaredMemberBytes(member), 0);
}

function declaredMemberBytes(member: Member): number {
  switch (member.kind) {
    case "value":
      return declaredValueBytes(member.attribute);
    case "constant":
      return member.text.length;
    case "part":
    case "row":
      return declaredRowBytes(member.selection);
    case "list":
      return member.limit * declaredRowBytes(member.selection);
  }
}

function declaredValueBytes({ field }: Attribute): number {
  if (field.kind !== "list") return declaredFieldBytes(field);
  return Math.min((field.options.max ?? standardMaxItems) * declaredFieldBytes(field.item), maxValueBytes);
}

function declaredFieldBytes(field: FieldShape): number {
  if (field.kind === "json") return maxValueBytes;
  if (field.kind !== "text") return smallBytes;
  const { max } = field.options;
  return max === undefined ? maxValueBytes : Math.min(max * maxCharacterBytes, maxValueBytes);
}
