// Builds the model from declarations.

import type { App } from "../declare/app.ts";
import { type LooseDeclaration, operationNames, type Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { kebabCase, plural, snakeCase, spaceCase } from "../lib/case.ts";
import { addAttributes, addNamedAttributes, type Draft } from "./attributes.ts";
import { collectionsOf } from "./collections.ts";
import { childrenOf, dependentsOf } from "./deletion.ts";
import { withExplainedFailures } from "./explained-failures.ts";
import { withIndexOf } from "./indexes.ts";
import type { Model, ResourceModel } from "./model.ts";
import { type ModuleOperation, operationsOf, type Report } from "./operations.ts";
import { isRestricted, policyRules, refusableOperations } from "./policy.ts";
import { readAccesses } from "./public.ts";
import { rolesOf } from "./roles.ts";
import { validateDeclaration } from "./validate-declaration.ts";
import { validateModel, validateParents } from "./validate-model.ts";

export interface ModelOptions {
  /** Whether responses explain errors of code in the declarations, as in the sandbox. */
  readonly explainsFailures?: boolean;
  /** Reports on rows, which declarations cannot define. */
  readonly reports?: readonly Report[];
  /** The fields that an app adds to users and that they may change themselves. */
  readonly selfEditable?: readonly string[];
  /** Operations of modules on what is no resource. */
  readonly operations?: readonly ModuleOperation[];
}

/**
 * Validates the declarations of an app and of the server, and returns the frozen model.
 * @throws OperatorError with one line: resource, field and remedy
 */
export function buildModel(
  app: App,
  ownResources: readonly Resource[],
  { explainsFailures = false, reports = [], operations = [], selfEditable = [] }: ModelOptions = {},
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
  for (const each of byName.values()) each.collections = collectionsOf([...byName.values()], each);
  for (const resource of declared) addNamedAttributes(resource, byName.get(resource.name)!);
  for (const { filters } of byName.values())
    for (const { related, attribute, operators } of filters.values()) {
      const draft = related && operators.has("eq") && byName.get(related.resource.name);
      if (draft) draft.indexes = withIndexOf(draft, attribute);
    }
  validateParents(byName.values());
  const drafts = [...byName.values()];
  for (const each of drafts) {
    each.isRestricted = isRestricted(each);
    each.refusable = refusableOperations(each);
    each.children = childrenOf(drafts, each);
    each.dependents = dependentsOf(drafts, each);
  }

  requireUniqueStoredNames(drafts);
  const resources = drafts.map((each) => Object.freeze(each));
  const scopesOf = (each: readonly Resource[]): readonly string[] => {
    const scoped = each.filter(hasScopes).map(({ name }) => byName.get(name)!.scopes);
    return [...new Set(scoped.flatMap(({ read, write }) => [read, write]))];
  };
  const moduleScopes = operations.flatMap(({ scope }) => scope ?? []);
  const scopes = [...new Set([...scopesOf(declared), ...moduleScopes])];
  const model = {
    name: app.name,
    version: app.version,
    resources,
    resource: byName,
    operations: operationsOf(resources, app.version, reports, operations),
    scopes,
    roles: rolesOf(app, scopes, new Set([...scopesOf(ownResources), ...moduleScopes])),
    hasPublicReads: resources.some(({ access }) => access.list.isPublic || access.get.isPublic),
    selfEditable: Object.freeze(["name", "email", ...selfEditable]),
    explainsFailures,
  };
  validateModel(model);
  return Object.freeze(model);
}

/** The names under which rows and events of a resource are stored. */
function storedNames(
  name: string,
  several: string,
  was: LooseDeclaration["was"],
): { readonly name: string; readonly plural: string } {
  if (was === undefined) return { name, plural: several };
  return typeof was === "string" ? { name: was, plural: plural(was) } : was;
}

/** @throws OperatorError for a resource whose name is the one that another had first */
function requireUniqueStoredNames(resources: readonly ResourceModel[]): void {
  const owners = new Map<string, string>();
  for (const { name, storedName } of resources) {
    const other = owners.get(storedName);
    if (other !== undefined)
      throw new OperatorError(
        `resource ${name}: rows and events of ${other} are stored as ${storedName}; choose another name`,
      );
    owners.set(storedName, name);
  }
}

/** A resource that is not exposed has scopes only if it declares them. */
function hasScopes({ declaration }: Resource): boolean {
  return declaration.exposed !== false || declaration.scopes !== undefined;
}

function draftOf({ name, declaration }: Resource, currentVersion: string): Draft {
  const several = declaration.plural ?? plural(name);
  const stored = storedNames(name, several, declaration.was);
  // Credentials keep the scopes that they have.
  const scopeName = kebabCase(stored.plural);
  const scopes = declaration.scopes ?? { read: `${scopeName}:read`, write: `${scopeName}:write` };
  return {
    name,
    storedName: stored.name,
    title: spaceCase(name),
    plural: several,
    segment: kebabCase(several),
    table: snakeCase(stored.plural),
    idPrefix: snakeCase(stored.name),
    description: declaration.description,
    attributes: [],
    attribute: new Map(),
    references: [],
    excludedFromETag: [],
    parent: undefined,
    children: [],
    dependents: [],
    collections: new Map(),
    filters: new Map(),
    sorts: new Map(),
    search: [],
    indexes: [],
    scopes,
    access: readAccesses(scopes.read, declaration),
    version: declaration.version ?? currentVersion,
    isExposed: declaration.exposed ?? true,
    recordsEvents: declaration.events ?? true,
    requiresIdempotencyKey: declaration.idempotencyKey === "required",
    operations: new Set(declaration.operations ?? operationNames),
    paging: declaration.paging ?? "cursor",
    policy: policyRules(declaration.policy),
    inheritsPolicy: declaration.inheritPolicy ?? true,
    isRestricted: false,
    refusable: new Set(),
    hooks: declaration.hooks ?? {},
    allowsSingleStatementCreate: !declaration.hooks?.before?.create && !declaration.hooks?.after?.create,
    validate: declaration.validate,
    setByCode: [],
    whenReferenced: declaration.whenReferenced ?? "Delete the rows that refer to it first.",
    markOnDelete: undefined,
    actions: new Map(),
    nestedUnder: [],
    deprecated: declaration.deprecated,
    schemas: { create: {}, replace: {}, update: {}, hookResult: {} },
  };
}
