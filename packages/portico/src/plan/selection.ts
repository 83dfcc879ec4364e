// Selections: which attributes of a row, and which rows around it, an answer shows.

import type { Attribute, ResourceModel } from "../declare/model.ts";
import { conditionShape, type Member, type Selection } from "./read.ts";

const whole = new WeakMap<ResourceModel, Selection>();

/** Everything that a row shows when nothing is selected. */
export function wholeRow(resource: ResourceModel): Selection {
  const known = whole.get(resource);
  if (known) return known;
  const shown = resource.attributes.filter((attribute) => !attribute.isInternal);
  // Statements are looked up by the key, so the key of most requests is short.
  const made: Selection = Object.freeze({
    members: shown.map(shownValue),
    key: "*",
    rows: 1,
    isNested: false,
  });
  whole.set(resource, made);
  return made;
}

/** A selection of these attributes, and then of other members. */
export function select(attributes: readonly Attribute[], others: readonly Member[] = []): Selection {
  return selectMembers([...attributes.map(shownValue), ...others]);
}

/** A selection of these members, in this order. */
export function selectMembers(members: readonly Member[]): Selection {
  const isNested = members.some(({ kind }) => kind === "row" || kind === "list");
  return Object.freeze({ members, key: members.map(keyOf).join(","), rows: rowsOf(members), isNested });
}

function shownValue(attribute: Attribute): Member {
  return { kind: "value", name: attribute.name, attribute };
}

/** Names are of letters, digits and underscores, so that no two selections have one key. */
function keyOf(member: Member): string {
  const { name } = member;
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

function rowsOf(members: readonly Member[]): number {
  let rows = 1;
  for (const member of members) {
    if (member.kind === "row") rows += member.selection.rows;
    if (member.kind === "list") rows += member.limit * member.selection.rows;
  }
  return rows;
}
