// Selections: which attributes of a row, and which rows around it, an answer shows.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { conditionShape, type Member, type Selection } from "./read.ts";

const wholeRows = new WeakMap<ResourceModel, Selection>();

/** Everything that a row shows when nothing is selected. */
export function wholeRow(resource: ResourceModel): Selection {
  const known = wholeRows.get(resource);
  if (known) return known;
  const shown = resource.attributes.filter((attribute) => !attribute.isInternal);
  // Statements are looked up by the key, so the key of most requests is short.
  const selection: Selection = Object.freeze({
    members: shown.map(selectedValue),
    key: "*",
    rows: 1,
    isNested: false,
  });
  wholeRows.set(resource, selection);
  return selection;
}

/** A selection of these attributes, and then of other members. */
export function select(attributes: readonly Attribute[], others: readonly Member[] = []): Selection {
  return selectMembers([...attributes.map(selectedValue), ...others]);
}

/** Several texts made of the same row; one selection by itself where there are no others. */
export function selectParts(selections: readonly Selection[]): Selection {
  const [only] = selections;
  if (only && selections.length === 1) return only;
  return selectMembers(selections.map((selection) => ({ kind: "part", selection })));
}

/** A selection of these members, in this order. */
export function selectMembers(members: readonly Member[]): Selection {
  const isNested = members.some(
    (member) =>
      member.kind === "row" ||
      member.kind === "list" ||
      (member.kind === "part" && member.selection.isNested),
  );
  return Object.freeze({ members, key: members.map(keyOf).join(","), rows: rowCountOf(members), isNested });
}

function selectedValue(attribute: Attribute): Member {
  return { kind: "value", name: attribute.name, attribute };
}

/**
 * PostgreSQL cuts the names of columns after so many characters. Longer names of members are values that are bound to a
 * statement, so that one statement serves all of them.
 */
export const maxName = 63;

/** Names are of letters, digits and underscores, so that no two selections of different shapes have one key. */
function keyOf(member: Member): string {
  if (member.kind === "part") return `/{${member.selection.key}}`;
  const name = member.name.length > maxName ? "?" : member.name;
  switch (member.kind) {
    case "value":
      return name === member.attribute.name ? name : `${name}:${member.attribute.name}`;
    case "constant":
      return `${name}=${member.text}`;
    case "row":
      return `${name}:${member.reference.name}(${conditionShape(member.conditions)}){${member.selection.key}}`;
    case "list": {
      const { resource, reference, conditions, sort, limit, selection } = member;
      const order = `${sort.isDescending ? "-" : ""}${sort.attribute.name}`;
      return `${name}:${resource.name}.${reference.name}(${conditionShape(conditions)}|${order}|${limit}){${selection.key}}`;
    }
  }
}

function rowCountOf(members: readonly Member[]): number {
  let rows = 1;
  for (const member of members) {
    if (member.kind === "row") rows += member.selection.rows;
    if (member.kind === "part") rows += member.selection.rows - 1;
    if (member.kind === "list") rows += member.limit * member.selection.rows;
  }
  return rows;
}
