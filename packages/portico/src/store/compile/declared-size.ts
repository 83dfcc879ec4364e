// The maximum size of an answer, computed from the declared sizes of its fields.

import { type FieldShape, standardMaxItems } from "../../declare/field.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import type { Member, Read, ReadOne, Selection } from "../../query/read.ts";
import { wholeRow } from "../../query/selection.ts";

/** The maximum of a request body, and so of a value whose field declares no maximum. */
const maxValueBytes = 1024 * 1024;
/** The longest form of a character in JSON: `\u0001`. */
const maxCharacterBytes = 6;
/** An id, a timestamp, a number, or the name of a member. */
const smallBytes = 64;

/** The maximum bytes of a page's JSON. */
export function declaredListBytes({ selection, page }: Read): number {
  return page.limit * declaredRowBytes(selection);
}

/** The maximum bytes of a row's JSON. */
export function declaredGetBytes({ selection }: ReadOne): number {
  return declaredRowBytes(selection);
}

/** How many whole rows of a resource take at most some bytes of JSON; at least one. */
export function rowsWithin(maxBytes: number, resource: ResourceModel): number {
  return Math.max(1, Math.floor(maxBytes / declaredRowBytes(wholeRow(resource))));
}

function declaredRowBytes({ members }: Selection): number {
  return members.reduce((bytes, member) => bytes + smallBytes + declaredMemberBytes(member), 0);
}

function declaredMemberBytes(member: Member): number {
  switch (member.kind) {
    case "value":
      return declaredValueBytes(member.attribute);
    case "count":
      return smallBytes;
    case "constant":
      return member.text?.length ?? 0;
    case "part":
    case "row":
      return declaredRowBytes(member.selection);
    case "list":
      return member.limit * declaredRowBytes(member.selection);
  }
}

function declaredValueBytes({ field }: Attribute): number {
  if (field.kind === "manyToMany") return (field.options.max ?? standardMaxItems) * smallBytes;
  if (field.kind !== "list") return declaredFieldBytes(field);
  return Math.min((field.options.max ?? standardMaxItems) * declaredFieldBytes(field.item), maxValueBytes);
}

function declaredFieldBytes(field: FieldShape): number {
  if (field.kind === "json") return maxValueBytes;
  if (field.kind !== "text") return smallBytes;
  const { max } = field.options;
  return max === undefined ? maxValueBytes : Math.min(max * maxCharacterBytes, maxValueBytes);
}
