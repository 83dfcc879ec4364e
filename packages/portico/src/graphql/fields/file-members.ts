// The fields of a file in a row.

import type { FileValue } from "../../declare/field.ts";
import type { Attribute } from "../../model/model.ts";
import type { SelectedFileMember } from "../../query/read.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { type FieldMapping, objectMapping, type RowFieldMapping } from "./field-mapping.ts";

/** A member of a file: `url`. */
export function fileMemberMapping(member: keyof FileValue | "url"): FieldMapping {
  return { ...objectMapping, fileMember: member };
}

/** A file of the row: `attachment { name url }`. */
export function fileMapping(attribute: Attribute): RowFieldMapping {
  return {
    ...objectMapping,
    toMember: ({ responseName, selectionSets }) => ({
      ...{ kind: "value", name: responseName, attribute },
      file: selectionSets[0]!.fields.map(selectedMember),
    }),
  };
}

function selectedMember({ responseName: name, mapping, parentType }: CollectedField): SelectedFileMember {
  // The only other field is `__typename`.
  return mapping.fileMember ? { name, member: mapping.fileMember } : { name, text: parentType.name };
}
