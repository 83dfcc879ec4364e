// Builds selections of attributes and related rows.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { conditionShape } from "./condition.ts";
import type { Member, Selection } from "./read.ts";
import { sortText } from "./sort.ts";

const wholeRows = new WeakMap<ResourceModel, Selection>();

/** The selection of all attributes that are not internal. */
export function wholeRow(resource: ResourceModel): Selection {
  const known = wholeRows.get(resource);
  if (known) return known;
  const shown = resource.attributes.filter((attribute) => !attribute.isInternal);
  // Statements are cached by the key, so most requests have a short one.
  const selection: Selection = Object.freeze({
    members: shown.map(selectedValue),
    key: "*",
    rows: 1,
    isNested: false,
  });
  wholeRows.set(resource, selection);
  return selection;
}

/** The same under the names that recorded events have. */
export function recordedRow(resource: ResourceModel): Selection {
  const whole = wholeRow(resource);
  const shown = resource.attributes.filter((attribute) => !attribute.isInternal);
  if (shown.every(({ name, storedName }) => name === storedName)) return whole;
  return selectMembers(
    shown.map((attribute) => ({ ...selectedValue(attribute), name: attribute.storedName })),
  );
}

/** A selection of attributes, followed by other members. */
export function select(attributes: readonly Attribute[], others: readonly Member[] = []): Selection {
  return selectMembers([...attributes.map(selectedValue), ...others]);
}

/** A selection with several texts of one row; a single selection is returned as it is. */
export function selectParts(selections: readonly Selection[]): Selection {
  const [only] = selections;
  if (only && selections.length === 1) return only;
  return selectMembers(selections.map((selection) => ({ kind: "part", selection })));
}

/** A selection of members, in their order. */
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
 * PostgreSQL truncates the names of columns to this length. Longer names of members are bound values, so that all of them
 * share a statement.
 */
export const maxName = 63;

/** Names consist of letters, digits and underscores, so different selections have different keys. */
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
      return `${name}:${resource.name}.${reference.name}(${conditionShape(conditions)}|${sortText(sort)}|${limit}){${selection.key}}`;
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
