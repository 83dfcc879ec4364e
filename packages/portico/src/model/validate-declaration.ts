// What can be wrong with a declaration. Each fault stops the start with one line: resource, field, remedy.

import {
  type FieldShape,
  isJson,
  itemKinds,
  optionNames,
  standardMaxItems,
  type TextOptions,
} from "../declare/field.ts";
import { renameHint } from "../declare/renamed-options.ts";
import { operationNames, type Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Attribute, Model, ResourceModel } from "./model.ts";
import {
  validateBehaviour,
  validateComputedStatus,
  validateInputField,
  validateJson,
  validateModelBehaviour,
} from "./validate-behaviour.ts";
import { validatePolicies, validatePolicyOptions } from "./validate-policy.ts";

/** Query parameters that have a meaning of their own, so that no field may be called so. */
const reservedParameters = ["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q"];
const serverManagedFields = ["id", "createdAt", "updatedAt"];

/** An index entry of PostgreSQL holds 2,704 bytes; two texts of this many characters and the ids fit. */
const maxIndexedTextLength = 255;
/** A text-search vector of PostgreSQL holds 1 MiB. */
const maxSearchedTextLength = 200_000;

const namePattern = /^[a-z][a-zA-Z0-9]{0,40}$/;
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Checks what can be seen from the declaration alone. */
export function validateDeclaration({ name, declaration }: Resource): void {
  const refuse = (field: string, remedy: string): never => {
    throw new OperatorError(`resource ${name}${field && `, field ${field}`}: ${remedy}`);
  };
  if (!namePattern.test(name)) refuse("", "write the name as one word in camelCase, for example apiKey");
  validateOptions(declaration, (remedy) => refuse("", remedy));
  for (const scope of Object.values(declaration.scopes ?? {})) {
    if (!scopePattern.test(scope))
      refuse("", `the scope '${scope}' has a character that RFC 6749 does not allow`);
  }
  for (const [field, shape] of Object.entries(declaration.fields)) {
    if (!namePattern.test(field)) refuse(field, "write the name as one word in camelCase, for example dueAt");
    if (serverManagedFields.includes(field))
      refuse(field, "id, createdAt and updatedAt come by themselves; leave it out");
    if (reservedParameters.includes(field)) refuse(field, "this name is a query parameter; choose another");
    validateField(shape, (remedy) => refuse(field, remedy));
  }
  validateBehaviour(declaration, (remedy) => refuse("", remedy));
  for (const [segment, { input, verb = "do" }] of Object.entries(declaration.actions ?? {})) {
    if (!namePattern.test(verb))
      refuse("", `write the verb of the action ${segment} in camelCase, for example renew`);
    for (const [field, shape] of Object.entries(input)) {
      const path = `${segment}.${field}`;
      if (!namePattern.test(field))
        refuse(path, "write the name as one word in camelCase, for example dueAt");
      validateField(shape, (remedy) => refuse(path, remedy));
      validateInputField(shape, (remedy) => refuse(path, remedy));
    }
  }
  validateDeprecation(declaration.deprecated, (remedy) => refuse("", remedy));
}

const declarationOptions = [
  "fields plural parent filter sort search scopes version paging policy inheritPolicy hooks validate markOnDelete actions nestedUnder exposed operations events description deprecated",
].flatMap((names) => names.split(" "));

/** What the compiler would refuse, for those who do not compile before they start. */
function validateOptions(declaration: Resource["declaration"], refuse: (remedy: string) => never): void {
  const unknown = Object.keys(declaration).find((option) => !declarationOptions.includes(option));
  if (unknown !== undefined)
    refuse(
      renameHint("resource", unknown) ??
        `there is no option ${unknown}; use some of ${declarationOptions.join(", ")}`,
    );
  const { plural, version, paging = "cursor", scopes, hooks, fields, operations } = declaration;
  if (typeof fields !== "object" || fields === null)
    refuse("fields is missing; write fields: { title: text() }");
  if (plural !== undefined && !namePattern.test(plural)) refuse("write plural as one word in camelCase");
  if (version !== undefined && !/^v\d{1,4}$/.test(version)) refuse("write version as v1, v2 and so on");
  if (!["cursor", "page"].includes(paging)) refuse("paging is cursor or page");
  if (scopes && !(scopes.read && scopes.write)) refuse("scopes needs both read and write");
  validatePolicyOptions(declaration, refuse);
  if (operations && !(operations.length > 0 && operations.every((each) => operationNames.includes(each))))
    refuse(
      operations.map((each) => renameHint("operation", each)).find((hint) => hint !== undefined) ??
        `operations is a list of some of ${operationNames.join(", ")}`,
    );
  for (const [phase, operationHooks] of Object.entries(hooks ?? {})) {
    const isKnown = ["before", "after"].includes(phase);
    const unknownHook = Object.keys(operationHooks ?? {}).find(
      (name) => !["create", "update", "delete"].includes(name),
    );
    if (!isKnown || unknownHook !== undefined) {
      refuse(
        (isKnown && renameHint("operation", unknownHook!)) ||
          `there is no hook ${phase}${isKnown ? `.${unknownHook}` : ""}; use before or after create, update, delete`,
      );
    }
  }
}

function validateField(shape: FieldShape, refuse: (remedy: string) => never): void {
  const { options } = shape;
  if (optionNames[shape.kind] === undefined)
    refuse("write it with text(), integer(), choice() or another kind");
  if (shape.kind === "text") validateText(shape.options, refuse);
  const known = optionNames[shape.kind];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined)
    refuse(renameHint("field", unknown) ?? `there is no option ${unknown}; use some of ${known.join(", ")}`);
  if (options.optional && "default" in options)
    refuse("has a default and is optional; remove one of the two");
  if ("min" in options && "max" in options && options.min! > options.max!) refuse("min is larger than max");
  if (!isDefaultInBounds(options)) refuse("the default lies outside min and max");
  if (options.immutable && (options.readOnly || options.internal))
    refuse("is given by hooks only, so it cannot be immutable; remove one of the two");
  if ((options.readOnly || options.internal) && "default" in options && typeof options.default === "function")
    refuse("is given by hooks only, so its default is a constant; work the value out in a hook");
  if (shape.kind === "choice") validateChoices(shape, refuse);
  if (shape.kind === "computedStatus") validateComputedStatus(shape, refuse);
  if (shape.kind === "json") validateJson(shape, refuse);
  if (shape.kind === "list") checkList(shape, refuse);
  if (shape.kind === "timestamp" && !isTimestampDefault(shape.options.default ?? "now"))
    refuse("the default is no ISO 8601 date and time; write it as 2027-01-31T09:00:00Z, or as now");
  validateDeprecation(options.deprecated, refuse);
}

function checkList(
  { item, options }: Extract<FieldShape, { kind: "list" }>,
  refuse: (remedy: string) => never,
): void {
  if (!(itemKinds as readonly string[]).includes(item?.kind))
    refuse(`a list holds one of ${itemKinds.join(", ")}: write list(text())`);
  validateField(item, (remedy) => refuse(`its items: ${remedy}`));
  const wrong = Object.keys(item.options).find((option) => !itemOptions.includes(option));
  if (wrong !== undefined) refuse(`its items: there is no option ${wrong}; give it to the list`);
  const { min = 0, max = standardMaxItems, default: standard } = options;
  if (![min, max].every((bound) => Number.isInteger(bound) && bound >= 0)) refuse("min and max count items");
  if (Array.isArray(standard) && (standard.length < min || standard.length > max))
    refuse("the default has fewer items than min or more than max");
}

/** What can be said of each value of a list. */
const itemOptions = ["min", "max", "format", "pattern"];

/** Whether a constant default keeps to the bounds of its own field. */
function isDefaultInBounds(options: FieldShape["options"]): boolean {
  if (!("default" in options) || !("min" in options || "max" in options)) return true;
  const { default: value, min = -Infinity, max = Infinity } = options;
  if (typeof value !== "number" && typeof value !== "string") return true;
  const size = typeof value === "string" ? [...value].length : value;
  return size >= min && size <= max;
}

function isTimestampDefault(value: string): boolean {
  return value === "now" || parseTimestamp(value) !== undefined;
}

function validateText(
  { min = 0, max = 0, pattern, format }: TextOptions,
  refuse: (remedy: string) => never,
): void {
  for (const bound of [min, max])
    if (!Number.isInteger(bound) || bound < 0) refuse("min and max count characters");
  if (format !== undefined && format !== "email" && format !== "uri") refuse("format is email or uri");
  if (pattern === undefined) return;
  if (!(pattern instanceof RegExp) || pattern.flags !== "")
    refuse("pattern is a regular expression without flags");
  try {
    new RegExp(pattern.source, "u");
  } catch {
    refuse("pattern must be valid with the flag u, as JSON Schema reads it");
  }
}

function validateChoices(
  shape: Extract<FieldShape, { kind: "choice" }>,
  refuse: (remedy: string) => never,
): void {
  if (shape.choices.length === 0) refuse("give at least one choice");
  if (new Set(shape.choices).size < shape.choices.length) refuse("a choice stands there twice; remove one");
  const value = shape.options.default;
  if (value !== undefined && !shape.choices.includes(value)) {
    refuse(`the default '${value}' is none of the choices; use one of ${shape.choices.join(", ")}`);
  }
}

function validateDeprecation(
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

/** Columns that the server has for itself. Its tables are checked in store/schema.ts, its paths in http/own-paths.ts. */
const reservedColumns = ["tenant_id", "row_no", "search_words"];

function validateReservedNames({ name, attributes }: ResourceModel): void {
  const taken = attributes.find(({ column }) => reservedColumns.includes(column));
  if (taken) {
    throw new OperatorError(
      `resource ${name}, field ${taken.name}: this name is the server's own; rename it`,
    );
  }
}

/** Two resources of one name, of which only one is listed, could make a resource its own parent. */
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

/** Checks what needs the other resources and the derived names. */
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
  validatePolicies(model);
}

function validateAttributeNames(resource: ResourceModel): void {
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

function validateIndexedFields(resource: ResourceModel): void {
  const indexed: Attribute[] = [
    ...[...resource.filters.values()].map((filter) => filter.attribute),
    ...resource.sorts.values(),
    ...resource.attributes.filter((attribute) => attribute.unique),
  ];
  const sortedByStatus = [...resource.sorts.values()].find(({ field }) => field.kind === "computedStatus");
  if (sortedByStatus) {
    throw new OperatorError(
      `resource ${resource.name}, field ${sortedByStatus.name}: a computed status changes with time; sort by its timestamp`,
    );
  }
  for (const { name, field } of indexed) {
    if (isJson(field)) {
      throw new OperatorError(
        `resource ${resource.name}, field ${name}: ${field.kind === "list" ? "a list" : "JSON"} cannot be filtered or sorted by; remove it there`,
      );
    }
    if (field.kind !== "text" || (field.options.max ?? Infinity) <= maxIndexedTextLength) continue;
    throw new OperatorError(
      `resource ${resource.name}, field ${name}: is filtered, sorted or unique, so it needs max: ${maxIndexedTextLength} or less`,
    );
  }
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
    `resource ${resource.name}, search: its texts may be ${total} characters long together; set max so that it is ${maxSearchedTextLength} or less`,
  );
}
