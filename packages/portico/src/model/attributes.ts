// The attributes of a resource: its declared fields and those that the server manages.

import type { FieldShape } from "../declare/field.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { snakeCase } from "../lib/case.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import { filtersOf } from "./filters.ts";
import { indexesOf } from "./indexes.ts";
import { bodySchemas } from "./json-schema.ts";
import { type Attribute, defaultSort, type ResourceModel, type StatusRuleModel } from "./model.ts";

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
} as const;

/** Adds the attributes, references and actions. @throws OperatorError for a reference to a resource outside the app */
export function addAttributes({ name, declaration }: Resource, drafts: ReadonlyMap<string, Draft>): void {
  const model = drafts.get(name)!;
  const modelOf = (target: Resource | undefined, field: string): ResourceModel => {
    const targetModel = target && drafts.get(target.name);
    if (targetModel) return targetModel;
    throw new OperatorError(
      `resource ${name}, ${field}: refers to ${target?.name ?? "nothing"}, which the app does not list; add it to resources`,
    );
  };
  const serverAttributeOf = (
    attributeName: string,
    field: FieldShape,
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
    const field: FieldShape = { kind: "belongsTo", options: {}, target: () => declaration.parent! };
    const reference = { name: target.name, target };
    model.parent = serverAttributeOf(`${target.name}Id`, field, reference, `${target.storedName}Id`);
  }
  const declared = Object.entries(declaration.fields).map(([fieldName, field]) =>
    attributeOf(fieldName, field, modelOf),
  );
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
  model.setByCode = model.attributes.filter(
    ({ isReadOnly, isServerManaged, isNullable, field }) =>
      isReadOnly && !isServerManaged && !isNullable && !("default" in field.options),
  );
  model.excludedFromETag = model.attributes
    .filter(({ field }) => field.options.excludeFromETag)
    .map(({ name }) => name);
  model.schemas = bodySchemas(model);
  model.actions = new Map(
    Object.entries(declaration.actions ?? {}).map(([segment, { input, verb, run }]) => {
      const attributes = Object.entries(input).map(([field, shape]) => attributeOf(field, shape, modelOf));
      const attribute = new Map(attributes.map((each) => [each.name, each]));
      const references = attributes.filter(({ reference }) => reference);
      const schemas = bodySchemas({ attributes });
      return [segment, { name: segment, attributes, attribute, references, schemas, verb, run }];
    }),
  );
}

function attributeOf(
  fieldName: string,
  field: FieldShape,
  modelOf: (target: Resource | undefined, field: string) => ResourceModel,
): Attribute {
  const suffix = field.kind === "belongsTo" ? "Id" : "";
  const { optional, readOnly, internal, immutable, deprecated, was = fieldName } = field.options;
  const fill = fillOf(field);
  const storedName = was + suffix;
  return {
    name: fieldName + suffix,
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
    reference:
      field.kind === "belongsTo"
        ? { name: fieldName, target: modelOf(field.target(), fieldName) }
        : undefined,
  };
}

/** Constant timestamps as rows store them. */
function fillOf({ kind, options }: FieldShape): unknown {
  const fill: unknown = "fill" in options ? options.fill : undefined;
  return kind === "timestamp" && typeof fill === "string" ? (parseTimestamp(fill) ?? fill) : fill;
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

function uniqueScope({ options }: FieldShape): Attribute["unique"] {
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
    if (each === "tenant" || attribute) return attribute ?? "tenant";
    throw new OperatorError(
      `resource ${name}, nestedUnder: ${each} is not a reference; name a belongsTo field, or tenant`,
    );
  });
  const mark = declaration.markOnDelete;
  model.markOnDelete = mark === undefined ? undefined : attributeNamed(mark, "markOnDelete");
  model.search = (declaration.search ?? []).map((each) => attributeNamed(each, "search"));
  model.indexes = indexesOf(resource, model);
}
