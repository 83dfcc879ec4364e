// Rows that were deleted softly: the argument that asks for them, and the field that says when they were deleted.

import { GraphQLBoolean, type GraphQLFieldConfig, type GraphQLFieldConfigArgumentMap } from "graphql";
import type { ResourceModel } from "../../model/model.ts";
import { deletedParameter } from "../../model/operation-parameters.ts";
import type { Member, Selection } from "../../query/read.ts";
import { selectMembers } from "../../query/selection.ts";
import { dateTime } from "../schema/scalars.ts";
import { type Arguments, objectMapping, type RowFieldMapping } from "./field-mapping.ts";
import { withMapping } from "./mapping-of.ts";

/** The argument of fields that read rows; none if rows are not deleted softly. */
export function deletedArgument({ isSoftDeleted }: ResourceModel): GraphQLFieldConfigArgumentMap {
  if (!isSoftDeleted) return {};
  const description = "Whether to read rows that were deleted and can be restored, instead of the others.";
  return { [deletedParameter]: { type: GraphQLBoolean, default: { value: false }, description } };
}

/** The rows that arguments ask for: the deleted rows of a resource, or the others. */
export function requestedRows(resource: ResourceModel, args: Arguments): ResourceModel {
  return resource.isSoftDeleted && args[deletedParameter] === true ? resource.deletedRows! : resource;
}

const fieldName = "deletedAt";

/** Null for all rows but deleted ones, which `selectionFrom` selects it of. */
const mapping: RowFieldMapping = {
  ...objectMapping,
  toMember: ({ responseName }) => ({
    kind: "constant",
    name: responseName,
    text: null,
    ofDeleted: fieldName,
  }),
};

/** The field `deletedAt` of rows that can be deleted softly. */
export function deletedAtField(): Readonly<Record<string, GraphQLFieldConfig<unknown, unknown>>> {
  const description = "When the row was deleted; null if it is not.";
  return { [fieldName]: { type: dateTime, description, ...withMapping(mapping) } };
}

/** A selection as it is read from the rows that were asked for. */
export function selectionFrom(rows: ResourceModel, selection: Selection): Selection {
  if (!rows.deletedOf) return selection;
  return selectMembers(
    selection.members.map((member): Member => {
      if (member.kind === "part") return { ...member, selection: selectionFrom(rows, member.selection) };
      if (member.kind !== "constant" || member.ofDeleted === undefined) return member;
      return { kind: "value", name: member.name, attribute: rows.attribute.get(member.ofDeleted)! };
    }),
  );
}
