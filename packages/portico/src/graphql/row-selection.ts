// The fields of a row become the selection of a plan.

import type { Member, Selection } from "../plan/read.ts";
import { selectMembers } from "../plan/selection.ts";
import { limitOf, newestFirst } from "./list-arguments.ts";
import type { Inside, Selected } from "./selected.ts";

/** Says that an operation is nothing for one statement a field; the reference executor takes it. */
export class Uncompiled extends Error {
  override readonly name = "Uncompiled";
}

/** SQLite builds objects of 500 members; PostgreSQL cuts names after 63 characters. */
const mostMembers = 500;
const longestName = 63;

/** @throws Uncompiled */
export function rowSelection({ type, fields }: Inside): Selection {
  if (fields.length > mostMembers) throw new Uncompiled();
  return selectMembers(fields.map((selected) => memberOf(type.name, selected)));
}

function memberOf(typeName: string, selected: Selected): Member {
  const { name, meaning, inside, arguments: given } = selected;
  if (name.length > longestName) throw new Uncompiled();
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
      return { kind: "constant", name, text: requireTypename(selected, typeName) };
  }
}

/** Of introspection only `__typename` stands inside a row. */
export function requireTypename({ field }: Selected, typeName: string): string {
  if (field.name === "__typename") return typeName;
  throw new Uncompiled();
}
