// The indexes of a resource: those that its filters, sorts, references and unique fields need, and declared ones. The
// store creates them, and decides by them which pages are slow reads.

import { isJson, orderedChoices } from "../declare/field.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { type Attribute, defaultSort, type IndexModel, type ResourceModel } from "./model.ts";

/** Options of a resource that list indexes, and what each of their lists is, for messages. */
const indexOptions = { unique: "a list of fields", indexes: "a list of fields" } as const;

/** Each index slows down every write. */
const maxIndexes = 16;
export const maxIndexFields = 4;
/** An index entry of PostgreSQL holds 2,704 bytes; two texts of this many characters and the ids fit. */
export const maxIndexedTextLength = 255;

/**
 * Checks the form of `unique` and `indexes`, for projects that are not compiled.
 *
 * @param refuse throws an error with this remedy
 */
export function validateIndexOptions(
  declaration: Resource["declaration"],
  refuse: (remedy: string) => never,
): void {
  for (const option of Object.keys(indexOptions) as (keyof typeof indexOptions)[]) {
    const lists: unknown = declaration[option] ?? [];
    const example = option === "unique" ? '[["ownerId", "name"]]' : '[["status", "-title"]]';
    if (!Array.isArray(lists) || !lists.every(isListOfNames))
      refuse(`write ${option} as a list of lists of fields, ${example}`);
    const declared = lists as readonly (readonly string[])[];
    if (declared.length > maxIndexes)
      refuse(`${option} has ${declared.length} lists; at most ${maxIndexes} are possible`);
    for (const fields of declared) {
      if (fields.length === 0) refuse(`${option} has an empty list; name its fields, ${example}`);
      if (fields.length > maxIndexFields)
        refuse(
          `${option}, ${fields.join(", ")}: has ${fields.length} fields; at most ${maxIndexFields} are possible`,
        );
    }
  }
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

/**
 * The indexes of a resource whose attributes, filters and sorts are known.
 * @throws OperatorError for an unknown field, and for an index that exists twice
 */
export function indexesOf(
  { name, declaration }: Resource,
  resource: Omit<ResourceModel, "indexes">,
): IndexModel[] {
  const automatic = automaticIndexes(resource);
  const keyOf = (index: IndexModel): string => indexKey(index, resource.sorts);
  const seen = new Map(automatic.map((index) => [keyOf(index), "automatically"]));
  const refuse = (option: string, fields: readonly string[], remedy: string): never => {
    throw new OperatorError(`resource ${name}, ${option} ${fields.join(", ")}: ${remedy}`);
  };
  const columnsOf = (option: string, fields: readonly string[]): IndexModel["columns"] => {
    const columns = fields.map((each) => {
      const isDescending = option === "indexes" && each.startsWith("-");
      const attribute = resource.attribute.get(isDescending ? each.slice(1) : each);
      if (attribute && !attribute.isInternal && attribute.name !== "id") return { attribute, isDescending };
      const known = [...resource.attribute.values()].filter((one) => !one.isInternal && one.name !== "id");
      return refuse(
        option,
        fields,
        `there is no field ${each}; use some of ${known.map((one) => one.name).join(", ")}`,
      );
    });
    if (new Set(columns.map(({ attribute }) => attribute)).size < columns.length)
      refuse(option, fields, "a field is listed twice; remove one");
    return columns;
  };
  const add = (option: string, fields: readonly string[], index: IndexModel): IndexModel => {
    const other = seen.get(keyOf(index));
    if (other !== undefined) refuse(option, fields, `this index is created ${other}; remove it`);
    seen.set(keyOf(index), `for ${option} ${fields.join(", ")}`);
    return index;
  };
  /** An ordered choice before the last field is one that rows are found by, if callers filter by it. */
  const isSortedBy = (attribute: Attribute, isLast: boolean): boolean =>
    orderedChoices(attribute.field) !== undefined &&
    (isLast || (resource.sorts.has(attribute.name) && !resource.filters.has(attribute.name)));
  const unique = (declaration.unique ?? []).map((fields) =>
    add("unique", fields, { columns: columnsOf("unique", fields), unique: "in tenant" }),
  );
  const declared = (declaration.indexes ?? []).map((fields) => {
    const columns = columnsOf("indexes", fields);
    const sort = columns.at(-1)!;
    if (!resource.sorts.has(sort.attribute.name))
      refuse("indexes", fields, `its last field orders a page; add ${sort.attribute.name} to sort`);
    const id = { attribute: resource.attribute.get("id")!, isDescending: sort.isDescending };
    const ranked = columns.map((each) => ({ ...each, isRanked: isSortedBy(each.attribute, each === sort) }));
    return add("indexes", fields, { columns: [...ranked, id], unique: undefined });
  });
  return [...automatic, ...unique, ...declared];
}

/**
 * The indexes that need no declaration: each sort alone, each filter with the default sort, each reference with the
 * default sort (for nested lists, which are sorted newest first, and for deletions of the referenced row), and unique
 * fields. All rows of a child resource are listed within their parent, so its indexes begin with the parent.
 */
function automaticIndexes({
  attribute,
  attributes,
  filters,
  parent,
  references,
  sorts,
}: Omit<ResourceModel, "indexes">): IndexModel[] {
  const indexes = new Map<string, IndexModel>();
  const add = (members: readonly Attribute[], unique?: Attribute["unique"], sort?: Attribute): void => {
    const columns = [...new Set(members)].map((each) => ({
      ...{ attribute: each, isDescending: false },
      isRanked: each === sort && orderedChoices(each.field) !== undefined,
    }));
    const index = { columns, unique };
    indexes.set(indexKey(index, sorts), index);
  };
  const id = attribute.get("id")!;
  const newest = attribute.get(defaultSort)!;
  const container = parent ? [parent] : [];
  for (const sort of sorts.values()) add([...container, sort, id], undefined, sort);
  for (const { attribute: filter, related, operators } of filters.values())
    if (!related && operators.has("eq") && !filter.statusRules && !filter.element)
      add([...container, filter, newest, id]);
  for (const reference of references) add([reference, newest, id]);
  for (const each of attributes) if (each.unique) add([each], each.unique);
  return [...indexes.values()];
}

/** The lists that callers filter by, and the ids of many-to-many fields. Their elements are indexed, with the default sort. */
export function indexedLists({
  attributes,
  filters,
}: Pick<ResourceModel, "attributes" | "filters">): Attribute[] {
  return attributes.filter(({ name, element, links }) => element && (links || filters.has(name)));
}

/** The indexes of a resource whose attribute other resources are filtered by: one of them begins with the attribute. */
export function withIndexOf(
  { attribute: attributes, indexes }: Pick<ResourceModel, "attribute" | "indexes">,
  attribute: Attribute,
): readonly IndexModel[] {
  const isFound =
    attribute.name === "id" ||
    indexes.some(({ columns }) => columns[0]!.attribute === attribute && !columns[0]!.isRanked);
  if (isFound || attribute.statusRules || attribute.element) return indexes;
  const columns = [attribute, attributes.get(defaultSort)!, attributes.get("id")!];
  const distinct = [...new Set(columns)].map((each) => ({ attribute: each, isDescending: false }));
  return [...indexes, { columns: distinct, unique: undefined }];
}

/** Whether an index may hold the values of an attribute that no declaration mentions as indexed. */
export function isIndexable({ field, statusRules }: Attribute): boolean {
  if (statusRules || isJson(field)) return false;
  return field.kind !== "text" || (field.options.max ?? Number.POSITIVE_INFINITY) <= maxIndexedTextLength;
}

/**
 * What an index serves, as a text that is the same for two indexes of which one is superfluous. An index can be read in
 * either direction, so only a difference between the directions of fields that pages are sorted by matters.
 */
function indexKey({ columns, unique }: IndexModel, sorts: ResourceModel["sorts"]): string {
  const names = columns.map(({ attribute }) => attribute.name);
  if (unique) return `unique ${names.sort().join()}`;
  const sorted = columns.findLastIndex(({ attribute: { name } }) => name !== "id" && !sorts.has(name)) + 1;
  return columns
    .map(({ attribute: { name }, isDescending }, index) =>
      index >= sorted && isDescending !== columns.at(-1)!.isDescending ? `-${name}` : name,
    )
    .join();
}
