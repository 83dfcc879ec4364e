// Builds selections of attributes and related rows.

import { standardMaxItems } from "../declare/field.ts";
import type { Attribute, CountModel, ResourceModel } from "../model/model.ts";
import { conditionShape } from "./condition.ts";
import { countConditions } from "./count.ts";
import type { Member, SelectedList, Selection, Sort } from "./read.ts";
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
    key: resource.current ? `*${resource.version}` : "*",
    rows: 1,
    isNested: false,
    hasFiles: resource.files.some(({ isInternal }) => !isInternal),
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
      member.kind === "count" ||
      (member.kind === "part" && member.selection.isNested),
  );
  const key = members.map(keyOf).join(",");
  const hasFiles = members.some(isOrHasFile);
  return Object.freeze({ members, key, rows: rowCountOf(members), isNested, hasFiles });
}

function isOrHasFile(member: Member): boolean {
  if (member.kind === "value") return member.attribute.field.kind === "file";
  return "selection" in member && member.selection.hasFiles;
}

/** A count as a member of a selection, under its own or another name. */
export function selectedCount(count: CountModel, name = count.name): Member {
  const { current = count } = count;
  return { kind: "count", name, count: current, conditions: countConditions(current) };
}

/** The rows of a many-to-many field as a member of a selection, in the order of their ids. */
export function linkedRows(
  attribute: Attribute,
  selection: Selection,
  name: string = attribute.links!.name,
  limit: number = maxLinks(attribute),
): SelectedList {
  const { current: reference = attribute } = attribute;
  const { target: resource } = reference.links!;
  const sort: Sort = [{ attribute: resource.attribute.get("id")!, isDescending: false }];
  return { kind: "list", name, resource, reference, selection, conditions: [], sort, limit };
}

/** The maximum number of rows of a many-to-many field. */
export function maxLinks({ field }: Attribute): number {
  return field.kind === "manyToMany" ? (field.options.max ?? standardMaxItems) : 0;
}

/** Rows are read by the attributes of current resources, whatever they are called in the version of the request. */
function selectedValue(attribute: Attribute): Member {
  const { name, current = attribute } = attribute;
  return { kind: "value", name, attribute: current };
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
    case "count":
      return `${name}#${member.count.name}(${conditionShape(member.conditions)})`;
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
