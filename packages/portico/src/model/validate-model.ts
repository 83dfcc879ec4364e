// Checks what needs all resources of an app: names, paths, indexes and search.

import { isJson } from "../declare/field.ts";
import { OperatorError } from "../errors.ts";
import type { Attribute, Model, ResourceModel } from "./model.ts";
import { validateModelBehaviour } from "./validate-behaviour.ts";

/** An index entry of PostgreSQL holds 2,704 bytes; two texts of this many characters and the ids fit. */
const maxIndexedTextLength = 255;
/** The characters that the texts of one index may have in total. */
const maxIndexTextLength = 2 * maxIndexedTextLength;
/** A text-search vector of PostgreSQL holds 1 MiB. */
const maxSearchedTextLength = 200_000;

/** Columns of the server. store/schema checks the names of tables, and http/reserved-paths.ts those of paths. */
const reservedColumns = ["tenant_no", "tenant_id", "row_no", "search_words"];
/** Every table of PostgreSQL has them. */
const systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

function validateReservedNames({ name, attributes }: ResourceModel): void {
  const taken = attributes.find(({ column }) => [...reservedColumns, ...systemColumns].includes(column));
  if (taken) {
    throw new OperatorError(`resource ${name}, field ${taken.name}: this name is reserved; rename it`);
  }
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
    validateAttributeNames(resource);
    validateIndexedFields(resource);
    validateSearch(resource);
  }
  validateModelBehaviour(model);
}

function validateAttributeNames(resource: ResourceModel): void {
  const columns = new Map<string, Attribute>();
  for (const attribute of resource.attributes) {
    const other = columns.get(attribute.column);
    if (other) throw new OperatorError(`resource ${resource.name}, ${takenName(attribute, other)}`);
    columns.set(attribute.column, attribute);
    if (attribute.reference && resource.attribute.has(attribute.reference.name)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${attribute.reference.name}: also the name of a reference; rename one`,
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
        `resource ${resource.name}, field ${name}: ${field.kind === "list" ? "a list" : "JSON"} cannot be filtered or sorted by; remove it there`,
      );
    }
    if (field.kind !== "text" || (field.options.max ?? Infinity) <= maxIndexedTextLength) continue;
    throw new OperatorError(
      `resource ${resource.name}, field ${name}: is filtered, sorted, unique or indexed, so it needs max: ${maxIndexedTextLength} or less`,
    );
  }
  for (const { columns } of resource.indexes) {
    const total = columns.reduce((sum, { attribute }) => sum + textLength(attribute), 0);
    if (total <= maxIndexTextLength) continue;
    throw new OperatorError(
      `resource ${resource.name}, index on ${columns.map(({ attribute }) => attribute.name).join(", ")}: its texts may have ${total} characters in total; set max so that the total is ${maxIndexTextLength} or less`,
    );
  }
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
