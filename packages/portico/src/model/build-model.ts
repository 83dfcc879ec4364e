// From declarations to the model.

import type { App } from "../declare/app.ts";
import type { FieldShape } from "../declare/field.ts";
import { operationNames, type Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { kebabCase, plural, snakeCase, spaceCase } from "../lib/case.ts";
import { withExplainedFailures } from "./explained-failures.ts";
import { bodySchemas } from "./json-schema.ts";
import {
  type Attribute,
  defaultSort,
  type Model,
  type ResourceModel,
  type StatusRuleModel,
} from "./model.ts";
import { operationsOf, type Report } from "./operations.ts";
import { validateDeclaration, validateModel, validateParents } from "./validate-declaration.ts";

export interface ModelOptions {
  /** Whether callers are told what code of the declarations threw, as in the sandbox. */
  readonly explainsFailures?: boolean;
  /** Reports on rows, beside what the declarations offer. */
  readonly reports?: readonly Report[];
}

/**
 * Checks the declarations of an app together with the server's own and freezes them into the model.
 * @throws OperatorError with one line that names resource, field and remedy.
 */
export function buildModel(
  app: App,
  ownResources: readonly Resource[],
  { explainsFailures = false, reports = [] }: ModelOptions = {},
): Model {
  const own = new Set(ownResources);
  const listed = [...new Set([...ownResources, ...app.resources])];
  for (const resource of listed) validateDeclaration(resource);
  const declared = listed.map((resource) =>
    explainsFailures && !own.has(resource) ? withExplainedFailures(resource) : resource,
  );
  const byName = new Map<string, Draft>();
  for (const resource of declared) {
    if (byName.has(resource.name)) {
      throw new OperatorError(`resource ${resource.name}: two resources have this name; rename one`);
    }
    byName.set(resource.name, draftOf(resource, app.version));
  }
  for (const resource of declared) addAttributes(resource, byName);
  for (const resource of declared) addNamedAttributes(resource, byName.get(resource.name)!);
  validateParents(byName.values());
  for (const each of byName.values()) each.isRestricted = isRestricted(each);

  const resources = [...byName.values()].map((each) => Object.freeze(each));
  const scopes = [...new Set(declared.filter(hasScopes).flatMap(({ name }) => scopesOf(byName.get(name)!)))];
  const model = {
    name: app.name,
    version: app.version,
    resources,
    resource: byName,
    operations: operationsOf(resources, app.version, reports),
    scopes,
    explainsFailures,
  };
  validateModel(model);
  return Object.freeze(model);
}

function isRestricted({ policy, parent, inheritsPolicy }: ResourceModel): boolean {
  if (policy) return true;
  return inheritsPolicy && parent !== undefined && isRestricted(parent.reference!.target);
}

/** A resource that is not exposed has scopes only where it declares them. */
function hasScopes({ declaration }: Resource): boolean {
  return declaration.exposed !== false || declaration.scopes !== undefined;
}

function scopesOf({ scopes }: ResourceModel): string[] {
  return [scopes.read, scopes.write];
}

type Draft = { -readonly [Key in keyof ResourceModel]: ResourceModel[Key] };

function draftOf({ name, declaration }: Resource, currentVersion: string): Draft {
  const several = declaration.plural ?? plural(name);
  const scopeName = kebabCase(several);
  return {
    name,
    title: spaceCase(name),
    plural: several,
    segment: kebabCase(several),
    table: snakeCase(several),
    idPrefix: snakeCase(name),
    description: declaration.description,
    attributes: [],
    attribute: new Map(),
    references: [],
    excludedFromETag: [],
    parent: undefined,
    filters: new Map(),
    sorts: new Map(),
    search: [],
    scopes: declaration.scopes ?? { read: `${scopeName}:read`, write: `${scopeName}:write` },
    version: declaration.version ?? currentVersion,
    isExposed: declaration.exposed ?? true,
    recordsEvents: declaration.events ?? true,
    operations: new Set(declaration.operations ?? operationNames),
    paging: declaration.paging ?? "cursor",
    policy: declaration.policy,
    inheritsPolicy: declaration.inheritPolicy ?? true,
    isRestricted: false,
    hooks: declaration.hooks ?? {},
    validate: declaration.validate,
    markOnDelete: undefined,
    actions: new Map(),
    nestedUnder: [],
    deprecated: declaration.deprecated,
    schemas: { create: {}, replace: {}, update: {}, hookResult: {} },
  };
}

const serverAttribute = {
  isNullable: false,
  isReadOnly: true,
  isImmutable: false,
  isServerManaged: true,
  isInternal: false,
  statusRules: undefined,
  unique: undefined,
} as const;

function addAttributes({ name, declaration }: Resource, drafts: ReadonlyMap<string, Draft>): void {
  const model = drafts.get(name)!;
  const modelOf = (target: Resource | undefined, field: string): ResourceModel => {
    const targetModel = target && drafts.get(target.name);
    if (targetModel) return targetModel;
    throw new OperatorError(
      `resource ${name}, ${field}: refers to ${target?.name ?? "nothing"}, which the app does not list; add it to resources`,
    );
  };
  const serverAttributes = (
    attributeName: string,
    field: FieldShape,
    reference?: Attribute["reference"],
  ): Attribute => ({
    ...serverAttribute,
    name: attributeName,
    column: snakeCase(attributeName),
    field,
    deprecated: undefined,
    reference,
  });

  if (declaration.parent) {
    const target = modelOf(declaration.parent, "parent");
    const field: FieldShape = { kind: "belongsTo", options: {}, target: () => declaration.parent! };
    model.parent = serverAttributes(`${target.name}Id`, field, { name: target.name, target });
  }
  const declared = Object.entries(declaration.fields).map(([fieldName, field]) =>
    attributeOf(fieldName, field, modelOf),
  );
  model.attributes = [
    serverAttributes("id", { kind: "id", options: {} }),
    ...(model.parent ? [model.parent] : []),
    ...declared,
    serverAttributes("createdAt", { kind: "timestamp", options: {} }),
    serverAttributes("updatedAt", { kind: "timestamp", options: {} }),
  ].map((each, _, all) => Object.freeze(withStatusRules(name, each, all)));
  model.parent = model.attributes.find((each) => each.name === model.parent?.name);
  model.attribute = new Map(model.attributes.map((each) => [each.name, each]));
  model.references = model.attributes.filter((each) => each.reference);
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
  const name = field.kind === "belongsTo" ? `${fieldName}Id` : fieldName;
  const { optional, readOnly, internal, immutable, deprecated } = field.options;
  return {
    name,
    column: snakeCase(name),
    field,
    isNullable: optional === true,
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

/** A state knows the attributes that it is worked out from. */
function withStatusRules(resource: string, attribute: Attribute, all: readonly Attribute[]): Attribute {
  if (attribute.field.kind !== "computedStatus") return attribute;
  const rules = attribute.field.rules.map(({ status, from, secondsBefore = 0 }): StatusRuleModel => {
    const source = all.find(({ name, field }) => name === from && field.kind === "timestamp");
    if (source) return { status, from: source, secondsBefore };
    throw new OperatorError(
      `resource ${resource}, field ${attribute.name}: ${from} is no timestamp; name a timestamp field`,
    );
  });
  return { ...attribute, statusRules: rules };
}

function uniqueScope({ options }: FieldShape): Attribute["unique"] {
  if (!("unique" in options) || !options.unique) return undefined;
  return options.unique === "all tenants" ? "all tenants" : "in tenant";
}

function addNamedAttributes({ name, declaration }: Resource, model: Draft): void {
  const attributeNamed = (attributeName: string, list: string): Attribute => {
    const attribute = model.attribute.get(attributeName);
    if (attribute && !attribute.isInternal) return attribute;
    throw new OperatorError(
      `resource ${name}, ${list}: there is no field ${attributeName}; use one of ${[...model.attribute.keys()].join(", ")}`,
    );
  };
  model.filters = new Map(
    (declaration.filter ?? []).map((entry) => {
      const hasRange = typeof entry !== "string";
      const attribute = attributeNamed(hasRange ? entry.range : entry, "filter");
      return [attribute.name, { attribute, hasRange }];
    }),
  );
  model.sorts = new Map(
    [defaultSort, ...(declaration.sort ?? [])].map((each) => [each, attributeNamed(each, "sort")]),
  );
  model.nestedUnder = (declaration.nestedUnder ?? []).map((each) => {
    const attribute = model.references.find(({ reference }) => reference!.name === each);
    if (each === "tenant" || attribute) return attribute ?? "tenant";
    throw new OperatorError(
      `resource ${name}, nestedUnder: ${each} is no reference; name a belongsTo, or tenant`,
    );
  });
  const mark = declaration.markOnDelete;
  model.markOnDelete = mark === undefined ? undefined : attributeNamed(mark, "markOnDelete");
  model.search = (declaration.search ?? []).map((each) => attributeNamed(each, "search"));
}
