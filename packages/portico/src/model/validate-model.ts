// Checks what needs all resources of an app: names, paths, indexes and search.

import { type FieldShape, isJson } from "../declare/field.ts";
import { OperatorError } from "../errors.ts";
import { maxIndexedTextLength } from "./indexes.ts";
import type { Attribute, Model, OlderVersion, ResourceModel } from "./model.ts";
import { validateModelBehaviour } from "./validate-behaviour.ts";

/** Why a value that is stored as JSON has no index, by its kind. */
const refusalsOfJson: Readonly<Record<string, string>> = {
  list: "a list can be filtered by, but not sorted by, unique or indexed",
  file: "a file cannot be filtered or sorted by",
};
/** The characters that the texts of one index may have in total. */
const maxIndexTextLength = 2 * maxIndexedTextLength;
/** A text-search vector of PostgreSQL holds 1 MiB. */
const maxSearchedTextLength = 200_000;

/** Columns of the server. store/schema checks the names of tables, and http/reserved-paths.ts those of paths. */
const reservedColumns = ["tenant_no", "tenant_id", "row_no", "search_words"];
/** Every table of PostgreSQL has them. */
const systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];
/** PostgreSQL truncates longer names of tables and columns, so the next migration would not find them. */
const maxStoredNameLength = 63;

function validateReservedNames({ name, attributes }: ResourceModel): void {
  const taken = attributes.find(({ column }) => [...reservedColumns, ...systemColumns].includes(column));
  if (taken) {
    throw new OperatorError(`resource ${name}, field ${taken.name}: this name is reserved; rename it`);
  }
}

/** A capital letter of a name is two characters of the stored one. */
function validateNameLengths({ name, table: own, attributes, deletedRows }: ResourceModel): void {
  const table = deletedRows?.table ?? own;
  const remedy = `is stored under a name of more than ${maxStoredNameLength} characters; choose a shorter one`;
  if (table.length > maxStoredNameLength) throw new OperatorError(`resource ${name}: its plural ${remedy}`);
  const long = attributes.find(({ column }) => column.length > maxStoredNameLength);
  if (long) throw new OperatorError(`resource ${name}, field ${long.name}: it ${remedy}`);
}

/** A resource can be its own ancestor if two resources have the same name and only one of them is listed. */
export function validateParents(resources: Iterable<ResourceModel>): void {
  for (const { name, parent } of resources) {
    const visited = new Set([name]);
    for (let next = parent?.reference?.target; next; next = next.parent?.reference?.target) {
      if (visited.has(next.name))
        throw new OperatorError(`resource ${name}: it is its own parent; set parent to another resource`);
      visited.add(next.name);
    }
  }
}

/** @throws OperatorError with one line: resource, field and remedy */
export function validateModel(model: Model): void {
  const segments = new Map<string, string>();
  for (const resource of model.resources) {
    const path = `${resource.version}/${resource.segment}`;
    const other = segments.get(path);
    if (other)
      throw new OperatorError(`resource ${resource.name}: its path is taken by ${other}; set plural`);
    segments.set(path, resource.name);
    validateReservedNames(resource);
    validateNameLengths(resource);
    validateAttributeNames(resource);
    validateIndexedFields(resource);
    validateSearch(resource);
  }
  for (const version of model.olderVersions)
    for (const { name, segment } of new Set(version.operations.flatMap(resourceOf))) {
      const other = segments.get(`${version.name}/${segment}`);
      if (other !== undefined && other !== name)
        throw new OperatorError(
          `resource ${name}: its path in ${version.name} is taken by ${other}; add versions: { ${version.name}: false }`,
        );
    }
  validateModelBehaviour(model);
}

function resourceOf(operation: OlderVersion["operations"][number]): ResourceModel[] {
  return operation.kind === "module" ? [] : [operation.resource];
}

function validateAttributeNames(resource: ResourceModel): void {
  const columns = new Map<string, Attribute>();
  for (const attribute of resource.attributes) {
    const other = columns.get(attribute.column);
    if (other) throw new OperatorError(`resource ${resource.name}, ${takenName(attribute, other)}`);
    columns.set(attribute.column, attribute);
    const rows = attribute.reference ?? attribute.links;
    if (rows && resource.attribute.has(rows.name)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${rows.name}: also the name of a reference; rename one`,
      );
    }
  }
}

/** @param other the attribute that has the same column */
function takenName(attribute: Attribute, other: Attribute): string {
  const [renamed, newer] = attribute.name === attribute.storedName ? [other, attribute] : [attribute, other];
  if (renamed.name === renamed.storedName)
    return `field ${attribute.name}: this name is used twice; rename one`;
  return `field ${newer.name}: the values of ${renamed.name} are stored as ${renamed.storedName}; choose another name`;
}

function validateIndexedFields(resource: ResourceModel): void {
  const indexed = new Set(resource.indexes.flatMap(({ columns }) => columns.map((each) => each.attribute)));
  const sortedByStatus = [...resource.sorts.values()].find(({ field }) => field.kind === "computedStatus");
  if (sortedByStatus) {
    throw new OperatorError(
      `resource ${resource.name}, field ${sortedByStatus.name}: a computed status changes with time; sort by its timestamp`,
    );
  }
  for (const { name, field } of indexed) {
    if (field.kind === "computedStatus") {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: a computed status changes with time; index its timestamp`,
      );
    }
    if (isJson(field)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: ${refusalsOfJson[field.kind] ?? "JSON cannot be filtered or sorted by"}; remove it there`,
      );
    }
    if (!isLongText(field)) continue;
    throw new OperatorError(
      `resource ${resource.name}, field ${name}: is filtered, sorted, unique or indexed, so it needs max: ${maxIndexedTextLength} or less`,
    );
  }
  const long = resource.elementIndexes.find(({ element }) => isLongText(element!.field));
  if (long)
    throw new OperatorError(
      `resource ${resource.name}, field ${long.name}: is filtered, so its items need max: ${maxIndexedTextLength} or less`,
    );
  for (const { columns } of resource.indexes) {
    const total = columns.reduce((sum, { attribute }) => sum + textLength(attribute), 0);
    if (total <= maxIndexTextLength) continue;
    throw new OperatorError(
      `resource ${resource.name}, index on ${columns.map(({ attribute }) => attribute.name).join(", ")}: its texts may have ${total} characters in total; set max so that the total is ${maxIndexTextLength} or less`,
    );
  }
}

/** Whether values of a field may be too long for an index. */
function isLongText(field: FieldShape): boolean {
  return field.kind === "text" && (field.options.max ?? Infinity) > maxIndexedTextLength;
}

/** The number of characters that an indexed text may have; of other values, which are short, 0. */
function textLength({ name, field }: Attribute): number {
  if (field.kind === "text") return field.options.max ?? 0;
  return field.kind === "id" && name !== "id" ? maxIndexedTextLength : 0;
}

function validateSearch(resource: ResourceModel): void {
  let total = 0;
  for (const { name, field } of resource.search) {
    if (field.kind !== "text") {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: only text can be searched; remove it from search`,
      );
    }
    total += field.options.max ?? Infinity;
  }
  if (total <= maxSearchedTextLength) return;
  throw new OperatorError(
    `resource ${resource.name}, search: its texts may have ${total} characters in total; set max so that the total is ${maxSearchedTextLength} or less`,
  );
}
