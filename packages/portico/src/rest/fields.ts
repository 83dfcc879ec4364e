// Field selection: `fields=id,title,author.name`. A dot leads into the row that a reference points to.

import type { FieldError } from "../errors.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { SelectedRow, Selection } from "../query/read.ts";
import { select } from "../query/selection.ts";

/** References followed one after another. */
const maxDepth = 3;

/**
 * The selection that `fields` asks for, in the order of the declaration; the id is always in it. Unknown
 * names are added to `errors`.
 */
export function parseFields(resource: ResourceModel, text: string, errors: FieldError[]): Selection {
  const names = text.split(",").map((name) => name.trim());
  return selectionOf(
    resource,
    names.map((name) => name.split(".")),
    errors,
    [],
  );
}

function selectionOf(
  resource: ResourceModel,
  paths: readonly (readonly string[])[],
  errors: FieldError[],
  parentPath: readonly string[],
): Selection {
  const chosen = new Set<Attribute>([resource.attribute.get("id")!]);
  const inner = new Map<Attribute, string[][]>();
  for (const [name = "", ...rest] of paths) {
    const reference = resource.references.find((attribute) => attribute.reference!.name === name);
    if (rest.length > 0 && reference && parentPath.length < maxDepth) {
      inner.set(reference, [...(inner.get(reference) ?? []), rest]);
      continue;
    }
    const attribute = resource.attribute.get(name);
    if (rest.length === 0 && attribute && !attribute.isInternal) chosen.add(attribute);
    else errors.push(unknownName([...parentPath, name, ...rest].join("."), resource));
  }
  const nested = [...inner].map(
    ([reference, rest]): SelectedRow => ({
      kind: "row",
      name: reference.reference!.name,
      reference,
      selection: selectionOf(reference.reference!.target, rest, errors, [
        ...parentPath,
        reference.reference!.name,
      ]),
      conditions: [],
    }),
  );
  return select(
    resource.attributes.filter((attribute) => chosen.has(attribute)),
    nested,
  );
}

function unknownName(name: string, resource: ResourceModel): FieldError {
  return {
    field: "fields",
    issue: "unknown",
    text: `names ${name.slice(0, 100)}, which ${resource.name} does not have`,
  };
}
