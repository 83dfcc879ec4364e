// The filters of a resource: which comparisons callers may ask for.

import { isJson } from "../declare/field.ts";
import type { LooseFilter } from "../declare/filter.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import type { Attribute, FilterModel, FilterOperator, RelatedRows, ResourceModel } from "./model.ts";

const equality: readonly FilterOperator[] = ["eq", "in", "ne", "isNull"];
const ranges: readonly FilterOperator[] = ["gte", "gt", "lte", "lt"];

/** What a declared filter opens, and for which field. */
function parseEntry(entry: LooseFilter): {
  readonly path: string;
  readonly operators: readonly FilterOperator[];
} {
  if (typeof entry === "string") return { path: entry, operators: equality };
  if ("range" in entry) return { path: entry.range, operators: [...equality, ...ranges] };
  if ("contains" in entry) return { path: entry.contains, operators: ["contains"] };
  return { path: entry.startsWith, operators: ["startsWith"] };
}

type FilteredResource = Pick<ResourceModel, "attribute" | "references" | "links" | "collections">;

/**
 * The filters of a resource by their paths, `status` or `author.role`.
 * @throws OperatorError for an unknown field, and for an operator that it does not have
 */
export function filtersOf(
  { name, declaration }: Resource,
  resource: FilteredResource,
): ReadonlyMap<string, FilterModel> {
  const filters = new Map<string, FilterModel>();
  for (const entry of declaration.filter ?? []) {
    const { path, operators } = parseEntry(entry);
    const refuse = (remedy: string): never => {
      throw new OperatorError(`resource ${name}, filter: ${remedy}`);
    };
    const known = filters.get(path);
    const all = new Set([...(known?.operators ?? []), ...operators]);
    const { related, attribute } = known ?? targetOf(resource, path, refuse);
    const isText = ["text", "id", "belongsTo"].includes(attribute.field.kind);
    if (!isText && (all.has("contains") || all.has("startsWith")))
      refuse(`${path} is not text; use ${attribute.element ? "" : `range("${path}") or `}"${path}"`);
    if (attribute.element && all.has("gte"))
      refuse(`${path} is a list, which is filtered by its elements; use "${path}"`);
    if (attribute.element?.field.kind === "number")
      refuse(`${path} is a list of numbers with fractions, which cannot be compared; remove it`);
    if (related && isJson(attribute.field) && !attribute.element)
      refuse(`${path} is JSON, which cannot be compared; remove it`);
    filters.set(path, { name: path, related, attribute, operators: all, hasRange: all.has("gte") });
  }
  return filters;
}

function targetOf(
  { attribute, references, links, collections }: FilteredResource,
  path: string,
  refuse: (remedy: string) => never,
): Pick<FilterModel, "related" | "attribute"> {
  const fieldOf = (attributes: ReadonlyMap<string, Attribute>, name: string, prefix: string): Attribute => {
    const found = attributes.get(name);
    if (found && !found.isInternal) return found;
    const names = [...attributes.values()]
      .filter(({ isInternal }) => !isInternal)
      .map((each) => prefix + each.name);
    return refuse(`there is no field ${path}; use one of ${names.join(", ")}`);
  };
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) return { related: undefined, attribute: fieldOf(attribute, path, "") };
  const related = relatedRows(references, links, collections, first);
  if (!related) {
    const names = [
      ...[...references.map((each) => each.reference!), ...links.map((each) => each.links!)].map(
        ({ name }) => name,
      ),
      ...collections.keys(),
    ];
    return refuse(`there are no related rows ${first}; use one of ${names.join(", ")}`);
  }
  return { related, attribute: fieldOf(related.resource.attribute, rest.join("."), `${first}.`) };
}

function relatedRows(
  references: ResourceModel["references"],
  links: ResourceModel["links"],
  collections: ResourceModel["collections"],
  name: string,
): RelatedRows | undefined {
  const reference = references.find((each) => each.reference!.name === name && !each.isInternal);
  if (reference) return { name, kind: "is", resource: reference.reference!.target, reference };
  const link = links.find((each) => each.links!.name === name && !each.isInternal);
  if (link) return { name, kind: "some", resource: link.links!.target, reference: link };
  const collection = collections.get(name);
  return collection && { name, kind: "some", ...collection };
}
