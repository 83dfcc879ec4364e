// Field selection: `fields=id,title,author.name`. A dot leads into the row that a reference points to.

import type { InputError } from "../../errors.ts";
import type { Attribute, CountModel, ResourceModel } from "../../model/model.ts";
import type { Member, Selection } from "../../query/read.ts";
import { linkedRows, select, selectedCount } from "../../query/selection.ts";

/** References followed one after another. */
const maxDepth = 3;

/**
 * The selection of the named fields, in the order of the declaration; it always includes the id. Adds an error for each
 * unknown name.
 */
export function parseFields(resource: ResourceModel, text: string, errors: InputError[]): Selection {
  const paths = text.split(",").map((path) => path.trim().split("."));
  return selectionOf(resource, paths, errors, []);
}

function selectionOf(
  resource: ResourceModel,
  paths: readonly (readonly string[])[],
  errors: InputError[],
  parentPath: readonly string[],
): Selection {
  const selected = new Set<Attribute>([resource.attribute.get("id")!]);
  const counts = new Set<CountModel>();
  const nestedPaths = new Map<Attribute, string[][]>();
  for (const [name = "", ...rest] of paths) {
    const reference = relatedField(resource, name);
    if (rest.length > 0 && reference && parentPath.length < maxDepth) {
      nestedPaths.set(reference, [...(nestedPaths.get(reference) ?? []), rest]);
      continue;
    }
    const attribute = resource.attribute.get(name);
    if (rest.length === 0 && attribute && !attribute.isInternal) selected.add(attribute);
    else if (rest.length === 0 && resource.counts.has(name)) counts.add(resource.counts.get(name)!);
    else errors.push(unknownName([...parentPath, name, ...rest].join(".")));
  }
  const nested = [...nestedPaths].map(([reference, rest]): Member => {
    const { name, target } = (reference.reference ?? reference.links)!;
    const selection = selectionOf(target, rest, errors, [...parentPath, name]);
    if (reference.links) return linkedRows(reference, selection);
    return { kind: "row", name, reference: reference.current ?? reference, selection, conditions: [] };
  });
  return select(
    resource.attributes.filter((attribute) => selected.has(attribute)),
    [...[...counts].map((each) => selectedCount(each)), ...nested],
  );
}

/** The reference or the many-to-many field by whose name related rows are selected. */
function relatedField({ references, links }: ResourceModel, name: string): Attribute | undefined {
  return [...references, ...links].find(
    (each) => (each.reference ?? each.links)!.name === name && !each.isInternal,
  );
}

function unknownName(name: string): InputError {
  const field = "fields";
  return { field, issue: "unknown", message: `Unknown field \`${name.slice(0, 100)}\` in \`${field}\`.` };
}
