// What can be wrong with a declaration. Each fault stops the start with one line: resource, field, remedy.

import { OperatorError } from "../errors.ts";
import { type FieldShape, optionNames } from "./field.ts";
import type { Attribute, Model, ResourceModel } from "./model.ts";
import { moment } from "./moment.ts";
import type { Resource } from "./resource.ts";

/** Query parameters that have a meaning of their own, so that no field may be called so. */
const reservedParameters = ["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q"];
const givenByServer = ["id", "createdAt", "updatedAt"];

/** An index entry of PostgreSQL holds 2,704 bytes; two texts of this many characters and the ids fit. */
const longestIndexedText = 255;
/** A text-search vector of PostgreSQL holds 1 MiB. */
const mostSearchedText = 200_000;

const namePattern = /^[a-z][a-zA-Z0-9]{0,40}$/;
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Checks what can be seen from the declaration alone. */
export function checkDeclaration({ name, declaration }: Resource): void {
  const refuse = (field: string, remedy: string): never => {
    throw new OperatorError(`resource ${name}${field && `, field ${field}`}: ${remedy}`);
  };
  if (!namePattern.test(name)) refuse("", "write the name as one word in camelCase, for example apiKey");
  for (const scope of Object.values(declaration.scopes ?? {})) {
    if (!scopePattern.test(scope))
      refuse("", `the scope '${scope}' has a character that RFC 6749 does not allow`);
  }
  for (const [field, shape] of Object.entries(declaration.fields)) {
    if (!namePattern.test(field)) refuse(field, "write the name as one word in camelCase, for example dueAt");
    if (givenByServer.includes(field))
      refuse(field, "id, createdAt and updatedAt come by themselves; leave it out");
    if (reservedParameters.includes(field)) refuse(field, "this name is a query parameter; choose another");
    checkField(shape, (remedy) => refuse(field, remedy));
  }
  checkDeprecation(declaration.deprecated, (remedy) => refuse("", remedy));
}

function checkField(shape: FieldShape, refuse: (remedy: string) => never): void {
  const { options } = shape;
  const known = optionNames[shape.kind];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined) refuse(`there is no option ${unknown}; use some of ${known.join(", ")}`);
  if (options.optional && "default" in options)
    refuse("has a default and is optional; remove one of the two");
  if ("min" in options && "max" in options && options.min! > options.max!) refuse("min is larger than max");
  if (!isWithin(options)) refuse("the default lies outside min and max");
  if (shape.kind === "choice") checkChoices(shape, refuse);
  if (shape.kind === "timestamp" && !isMoment(shape.options.default ?? "now"))
    refuse("the default is no ISO 8601 date and time; write it as 2027-01-31T09:00:00Z, or as now");
  checkDeprecation(options.deprecated, refuse);
}

/** Whether a constant default keeps to the bounds of its own field. */
function isWithin(options: FieldShape["options"]): boolean {
  if (!("default" in options) || !("min" in options || "max" in options)) return true;
  const { default: standard, min = -Infinity, max = Infinity } = options;
  if (typeof standard !== "number" && typeof standard !== "string") return true;
  const size = typeof standard === "string" ? [...standard].length : standard;
  return size >= min && size <= max;
}

function isMoment(standard: string): boolean {
  return standard === "now" || moment(standard) !== undefined;
}

function checkChoices(
  shape: Extract<FieldShape, { kind: "choice" }>,
  refuse: (remedy: string) => never,
): void {
  if (shape.choices.length === 0) refuse("give at least one choice");
  if (new Set(shape.choices).size < shape.choices.length) refuse("a choice stands there twice; remove one");
  const standard = shape.options.default;
  if (standard !== undefined && !shape.choices.includes(standard)) {
    refuse(`the default '${standard}' is none of the choices; use one of ${shape.choices.join(", ")}`);
  }
}

function checkDeprecation(
  deprecated: { since: string; sunset?: string } | undefined,
  refuse: (remedy: string) => never,
): void {
  if (!deprecated) return;
  const since = Date.parse(deprecated.since);
  const sunset = deprecated.sunset === undefined ? since : Date.parse(deprecated.sunset);
  if (Number.isNaN(since) || Number.isNaN(sunset))
    refuse("deprecated.since and .sunset are ISO dates, 2027-01-31");
  if (sunset < since) refuse("deprecated.sunset is earlier than deprecated.since; RFC 8594 forbids that");
}

/** Checks what needs the other resources and the derived names. */
export function checkModel(model: Model): void {
  const segments = new Map<string, string>();
  for (const resource of model.resources) {
    const path = `${resource.version}/${resource.segment}`;
    const other = segments.get(path);
    if (other)
      throw new OperatorError(`resource ${resource.name}: its path is taken by ${other}; set plural`);
    segments.set(path, resource.name);
    checkAttributeNames(resource);
    checkIndexed(resource);
    checkSearch(resource);
  }
}

function checkAttributeNames(resource: ResourceModel): void {
  const columns = new Set<string>();
  for (const attribute of resource.attributes) {
    if (columns.has(attribute.column)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${attribute.name}: this name stands there twice; rename one`,
      );
    }
    columns.add(attribute.column);
    if (attribute.reference && resource.attribute.has(attribute.reference.name)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${attribute.reference.name}: also the name of a reference; rename one`,
      );
    }
  }
}

function checkIndexed(resource: ResourceModel): void {
  const indexed: Attribute[] = [
    ...[...resource.filters.values()].map((filter) => filter.attribute),
    ...resource.sorts.values(),
    ...resource.attributes.filter((attribute) => attribute.unique),
  ];
  for (const { name, field } of indexed) {
    if (field.kind === "json") {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: JSON cannot be filtered or sorted by; remove it there`,
      );
    }
    if (field.kind !== "text" || (field.options.max ?? Infinity) <= longestIndexedText) continue;
    throw new OperatorError(
      `resource ${resource.name}, field ${name}: is filtered, sorted or unique, so it needs max: ${longestIndexedText} or less`,
    );
  }
}

function checkSearch(resource: ResourceModel): void {
  let total = 0;
  for (const { name, field } of resource.search) {
    if (field.kind !== "text") {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: only text can be searched; remove it from search`,
      );
    }
    total += field.options.max ?? Infinity;
  }
  if (total <= mostSearchedText) return;
  throw new OperatorError(
    `resource ${resource.name}, search: its texts may be ${total} characters long together; set max so that it is ${mostSearchedText} or less`,
  );
}
