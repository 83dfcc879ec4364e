// The fields of a row become the selection of a plan.

import type { Member, Selection } from "../plan/read.ts";
import { selectMembers } from "../plan/selection.ts";
import { limitOf, newestFirst } from "./list-arguments.ts";
import type { Inside, Selected } from "./selected.ts";

export function rowSelection({ type, fields }: Inside): Selection {
  return selectMembers(fields.map((selected) => memberOf(type.name, selected)));
}

function memberOf(typeName: string, { name, meaning, inside, arguments: given }: Selected): Member {
  switch (meaning?.kind) {
    case "value":
      return { kind: "value", name, attribute: meaning.attribute };
    case "row": {
      const selection = rowSelection(inside[0]!);
      return { kind: "row", name, reference: meaning.reference, selection, conditions: [] };
    }
    case "list": {
      const { resource, reference } = meaning;
      const [sort, limit] = [newestFirst(resource), limitOf(given.first)];
      return {
        ...{ kind: "list", name, resource, reference, conditions: [], sort, limit },
        selection: rowSelection(inside[0]!),
      };
    }
    default:
      // Of introspection only `__typename` stands inside a row.
      return { kind: "constant", name, text: typeName };
  }
}
