// The fields of a row become the selection of a plan.

import type { Member, Selection } from "../../query/read.ts";
import { selectMembers } from "../../query/selection.ts";
import type { CollectedField, Subselection } from "../document/collect-fields.ts";
import { clampLimit, newestFirst } from "../schema/list-arguments.ts";

export function rowSelection({ type, fields }: Subselection): Selection {
  return selectMembers(fields.map((selected) => memberOf(type.name, selected)));
}

function memberOf(
  typeName: string,
  { responseName: name, mapping, subselections, arguments: args }: CollectedField,
): Member {
  switch (mapping?.kind) {
    case "value":
      return { kind: "value", name, attribute: mapping.attribute };
    case "row": {
      const selection = rowSelection(subselections[0]!);
      return { kind: "row", name, reference: mapping.reference, selection, conditions: [] };
    }
    case "list": {
      const { resource, reference } = mapping;
      const [sort, limit] = [newestFirst(resource), clampLimit(args.first)];
      return {
        ...{ kind: "list", name, resource, reference, conditions: [], sort, limit },
        selection: rowSelection(subselections[0]!),
      };
    }
    default:
      // Of introspection only `__typename` stands inside a row.
      return { kind: "constant", name, text: typeName };
  }
}
