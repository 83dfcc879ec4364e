// Which rows of other resources a selection shows, so that it can be asked later whether a caller may see them still.

import type { ResourceModel } from "../model/model.ts";
import type { Member, Selection } from "../query/read.ts";
import { select } from "../query/selection.ts";

type NestedMember = Extract<Member, { readonly kind: "row" | "list" }>;

/** A nested row whose policies decide who sees it. */
export interface NestedRow {
  readonly resource: ResourceModel;
  readonly id: string;
}

/**
 * A selection of the ids of the nested rows of another selection. Its members have names of their own, because those of the
 * other may be any.
 *
 * @returns undefined if no policy restricts who sees any of them
 */
export function nestedIds(resource: ResourceModel, selection: Selection): Selection | undefined {
  if (!selection.isNested || !hasRestricted(selection)) return undefined;
  const nested = nestedMembers(selection).map((member, index): Member => {
    const target = targetOf(member);
    const ids = nestedIds(target, member.selection) ?? select([target.attribute.get("id")!]);
    return { ...member, name: nameOf(index), selection: ids };
  });
  return select([resource.attribute.get("id")!], nested);
}

/**
 * The nested rows of a row.
 * @param selection of which `nestedIds` made the selection that was read
 * @param row what was read
 */
export function* nestedRows(selection: Selection, row: unknown): Iterable<NestedRow> {
  for (const [index, member] of nestedMembers(selection).entries()) {
    const value = (row as Readonly<Record<string, unknown>>)[nameOf(index)];
    // Null is a reference to nothing, or to a row that the caller does not see.
    const rows = (Array.isArray(value) ? value : value ? [value] : []) as readonly { readonly id: string }[];
    const resource = targetOf(member);
    for (const each of rows) {
      if (resource.isRestricted) yield { resource, id: each.id };
      if (hasRestricted(member.selection)) yield* nestedRows(member.selection, each);
    }
  }
}

function hasRestricted(selection: Selection): boolean {
  return nestedMembers(selection).some(
    (member) => targetOf(member).isRestricted || hasRestricted(member.selection),
  );
}

function nestedMembers({ members }: Selection): readonly NestedMember[] {
  return members.flatMap((member) => {
    if (member.kind === "part") return nestedMembers(member.selection);
    return member.kind === "row" || member.kind === "list" ? [member] : [];
  });
}

function targetOf(member: NestedMember): ResourceModel {
  // The attribute of a nested row is a reference.
  return member.kind === "list" ? member.resource : member.reference.reference!.target;
}

function nameOf(index: number): string {
  return `n${index}`;
}
