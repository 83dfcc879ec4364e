// The attributes of a resource: its declared fields and those that the server manages.

import { integer } from "../declare/field.ts";
import type { Fields } from "../declare/record.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { singular, snakeCase } from "../lib/case.ts";
import { canonicalDecimal } from "../lib/decimal.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import { keptCountShape } from "./counts.ts";
import { filtersOf } from "./filters.ts";
import { indexedLists, indexesOf } from "./indexes.ts";
import { bodySchemas } from "./json-schema.ts";
import {
  type ActionModel,
  type Attribute,
  type AttributeShape,
  type CollectionActionModel,
  defaultSort,
  type RequestShape,
  type ResourceModel,
  type StatusRuleModel,
} from "./model.ts";

/** A resource while its model is built. */
export type Draft = { -readonly [Key in keyof ResourceModel]: ResourceModel[Key] };

const serverAttribute = {
  isOptional: false,
  isNullable: false,
  fill: undefined,
  isReadOnly: true,
  isImmutable: false,
  isServerManaged: true,
  isInternal: false,
  statusRules: undefined,
  unique: undefined,
  element: undefined,
  links: undefined,
} as const;

/** Adds the attributes, references and actions. @throws OperatorError for a reference to a resource outside the app */
export function addAttributes({ name, declaration }: Resource, drafts: ReadonlyMap<string, Draft>): void {
  const model = drafts.get(name)!;
  const modelOf = modelsOf(drafts, `resource ${name}`);
  const serverAttributeOf = (
    attributeName: string,
    field: AttributeShape,
    reference?: Attribute["reference"],
    storedName = attributeName,
  ): Attribute => ({
    ...serverAttribute,
    name: attributeName,
    storedName,
    column: snakeCase(storedName),
    field,
    deprecated: undefined,
    reference,
  });

  if (declaration.parent) {
    const target = modelOf(declaration.parent, "parent");
    const field: AttributeShape = { kind: "belongsTo", options: {}, target: () => declaration.parent! };
    const reference = { name: target.name, target };
    model.parent = serverAttributeOf(`${target.name}Id`, field, reference, `${target.storedName}Id`);
  }
  const declared = Object.entries(declaration.fields).flatMap(([fieldName, field]): readonly Attribute[] => {
    if (field.kind !== "count") return [attributeOf(fieldName, field, modelOf)];
    const shape = keptCountShape(field);
    return shape ? [{ ...serverAttributeOf(fieldName, shape), deprecated: shape.options.deprecated }] : [];
  });
  model.attributes = [
    serverAttributeOf("id", { kind: "id", options: {} }),
    ...(model.parent ? [model.parent] : []),
    ...declared,
    serverAttributeOf("createdAt", { kind: "timestamp", options: {} }),
    serverAttributeOf("updatedAt", { kind: "timestamp", options: {} }),
  ].map((each, _, all) => Object.freeze(withStatusRules(name, each, all)));
  model.parent = model.attributes.find((each) => each.name === model.parent?.name);
  model.attribute = new Map(model.attributes.map((each) => [each.name, each]));
  model.references = model.attributes.filter((each) => each.reference);
  model.links = model.attributes.filter((each) => each.links);
  model.files = model.attributes.filter(({ field }) => field.kind === "file");
  if (model.files.length > 0) model.allowsSingleStatementCreate = false;
  model.setByCode = model.attributes.filter(
    ({ isReadOnly, isServerManaged, isNullable, field }) =>
      isReadOnly && !isServerManaged && !isNullable && !("default" in field.options),
  );
  model.excludedFromETag = model.attributes
    .filter(({ field }) => field.options.excludeFromETag)
    .map(({ name }) => name);
  model.schemas = bodySchemas(model);
  const actions = new Map<string, ActionModel>();
  const collectionActions = new Map<string, CollectionActionModel>();
  for (const [segment, { on, input, verb, deprecated, answer = countAnswer, run }] of Object.entries(
    declaration.actions ?? {},
  )) {
    const action = { ...requestShape(segment, input, modelOf), verb, deprecated, run };
    if (on !== "collection") actions.set(segment, action);
    else collectionActions.set(segment, { ...action, answer: requestShape(segment, answer, modelOf) });
  }
  model.actions = actions;
  model.collectionActions = collectionActions;
}

/** What an action on a collection returns that declares no answer. */
const countAnswer = { count: integer({ min: 0 }) };

/** Finds the model of a resource that a field refers to. @throws OperatorError for one outside the app */
export type ModelOf = (target: Resource | undefined, field: string) => ResourceModel;

/** @param where the fields are declared, for the message: `resource post` */
export function modelsOf(drafts: ReadonlyMap<string, ResourceModel>, where: string): ModelOf {
  return (target, field) => {
    const targetModel = target && drafts.get(target.name);
    if (targetModel) return targetModel;
    throw new OperatorError(
      `${where}, ${field}: refers to ${target?.name ?? "nothing"}, which the app does not list; add it to resources`,
    );
  };
}

/** The shape of values of a request: the input of an action, or a part of a route. */
export function requestShape(name: string, fields: Fields, modelOf: ModelOf): RequestShape {
  const attributes = Object.entries(fields).map(([field, shape]) =>
    // Counts are refused.
    attributeOf(field, shape as AttributeShape, modelOf),
  );
  const attribute = new Map(attributes.map((each) => [each.name, each]));
  const references = attributes.filter(({ reference }) => reference);
  const links = attributes.filter((each) => each.links);
  const file = attributes.find(({ field }) => field.kind === "file");
  if (file)
    throw new OperatorError(
      `${name}, field ${file.name}: only rows have files; declare the field of a resource, or send the id of a row`,
    );
  return {
    ...{ name, attributes, attribute, references, links, counts: new Map(), files: [] },
    schemas: bodySchemas({ attributes }),
  };
}

function attributeOf(fieldName: string, declared: AttributeShape, modelOf: ModelOf): Attribute {
  const field = withCanonicalDefault(declared);
  const keyOf = (name: string): string => attributeName(name, field);
  const { optional, readOnly, internal, immutable, deprecated, was = fieldName } = field.options;
  const fill = fillOf(field);
  const storedName = keyOf(was);
  const attribute: Attribute = {
    name: keyOf(fieldName),
    storedName,
    column: snakeCase(storedName),
    field,
    isOptional: optional === true,
    isNullable: optional === true || fill !== undefined,
    fill,
    isReadOnly: readOnly === true || internal === true,
    isImmutable: immutable === true,
    isServerManaged: field.kind === "computedStatus",
    isInternal: internal === true,
    statusRules: undefined,
    unique: uniqueScope(field),
    deprecated,
    element: undefined,
    links:
      field.kind === "manyToMany"
        ? { name: fieldName, target: modelOf(field.target(), fieldName) }
        : undefined,
    reference:
      field.kind === "belongsTo"
        ? { name: fieldName, target: modelOf(field.target(), fieldName) }
        : undefined,
  };
  if (field.kind === "list") return { ...attribute, element: elementOf(attribute, field.item) };
  if (field.kind !== "manyToMany") return attribute;
  return { ...attribute, element: elementOf(attribute, { kind: "id", options: {} }) };
}

/** The name of a field in rows: `authorId`, `labelIds`. */
export function attributeName(fieldName: string, field: AttributeShape): string {
  if (field.kind === "belongsTo") return `${fieldName}Id`;
  return field.kind === "manyToMany" ? `${field.singular ?? singular(fieldName)}Ids` : fieldName;
}

function elementOf(list: Attribute, field: AttributeShape): Attribute {
  return Object.freeze({ ...list, field, isOptional: false, isNullable: false, fill: undefined });
}

/** A decimal with its constant default as rows store it. */
function withCanonicalDefault(field: AttributeShape): AttributeShape {
  if (field.kind !== "decimal" || typeof field.options.default !== "string") return field;
  const { default: value, scale } = field.options;
  return Object.freeze({ ...field, options: { ...field.options, default: canonicalDecimal(value, scale)! } });
}

/** Constant timestamps and decimals as rows store them. */
function fillOf(field: AttributeShape): unknown {
  const fill: unknown = "fill" in field.options ? field.options.fill : undefined;
  if (typeof fill !== "string") return fill;
  if (field.kind === "decimal") return canonicalDecimal(fill, field.options.scale);
  return field.kind === "timestamp" ? (parseTimestamp(fill) ?? fill) : fill;
}

/** Resolves the names in the rules of a computed status to attributes. */
function withStatusRules(resource: string, attribute: Attribute, all: readonly Attribute[]): Attribute {
  if (attribute.field.kind !== "computedStatus") return attribute;
  const rules = attribute.field.rules.map(({ status, from, secondsBefore = 0 }): StatusRuleModel => {
    const source = all.find(({ name, field }) => name === from && field.kind === "timestamp");
    if (source) return { status, from: source, secondsBefore };
    throw new OperatorError(
      `resource ${resource}, field ${attribute.name}: ${from} is not a timestamp; name a timestamp field`,
    );
  });
  return { ...attribute, statusRules: rules };
}

function uniqueScope({ options }: AttributeShape): Attribute["unique"] {
  if (!("unique" in options) || !options.unique) return undefined;
  return options.unique === "all tenants" ? "all tenants" : "in tenant";
}

/** Adds what a declaration refers to by the names of fields. @throws OperatorError for an unknown name */
export function addNamedAttributes(resource: Resource, model: Draft): void {
  const { name, declaration } = resource;
  const attributeNamed = (attributeName: string, list: string): Attribute => {
    const attribute = model.attribute.get(attributeName);
    if (attribute && !attribute.isInternal) return attribute;
    throw new OperatorError(
      `resource ${name}, ${list}: there is no field ${attributeName}; use one of ${[...model.attribute.keys()].join(", ")}`,
    );
  };
  model.filters = filtersOf(resource, model);
  model.sorts = new Map(
    [defaultSort, ...(declaration.sort ?? [])].map((each) => [each, attributeNamed(each, "sort")]),
  );
  model.nestedUnder = (declaration.nestedUnder ?? []).map((each) => {
    const attribute = model.references.find(({ reference }) => reference!.name === each);
    if (each === "tenant" || attribute?.isInternal === false) return attribute ?? "tenant";
    const fault = attribute ? "internal" : "not a reference";
    throw new OperatorError(
      `resource ${name}, nestedUnder: ${each} is ${fault}; name a belongsTo field, or tenant`,
    );
  });
  const mark = declaration.markOnDelete;
  model.markOnDelete = mark === undefined ? undefined : attributeNamed(mark, "markOnDelete");
  model.search = (declaration.search ?? []).map((each) => attributeNamed(each, "search"));
  model.indexes = indexesOf(resource, model);
  model.elementIndexes = indexedLists(model);
}
