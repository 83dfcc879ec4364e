// Builds the model from declarations.

import type { App } from "../declare/app.ts";
import { type LooseDeclaration, operationNames, type Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { kebabCase, plural, snakeCase, spaceCase } from "../lib/case.ts";
import { addAttributes, addNamedAttributes, type Draft, modelsOf } from "./attributes.ts";
import { collectionsOf } from "./collections.ts";
import { countsOf, validateKeptCounts, withIndexOfCount } from "./counts.ts";
import { childrenOf, linkedFrom, referencesTo } from "./deletion.ts";
import { withExplainedFailures } from "./explained-failures.ts";
import { withIndexOf } from "./indexes.ts";
import type { Model, ResourceModel } from "./model.ts";
import { offeredTools } from "./offered-tools.ts";
import { olderVersionsOf, type VersionDraft } from "./older-versions.ts";
import {
  type DeclaredModuleOperation,
  type ModuleOperation,
  olderOperationsOf,
  operationsOf,
  type Report,
} from "./operations.ts";
import { isRestricted, policyRules, refusableOperations } from "./policy.ts";
import { readAccesses } from "./public.ts";
import { rolesOf } from "./roles.ts";
import { routeModel } from "./route.ts";
import { currentResources } from "./served-versions.ts";
import { addDeletedRows, addRestoration } from "./soft-deletion.ts";
import { validateDeclaration } from "./validate-declaration.ts";
import { validateModel, validateParents } from "./validate-model.ts";

export interface ModelOptions {
  /** Whether responses explain errors of code in the declarations, as in the sandbox. */
  readonly explainsFailures?: boolean;
  /** Reports on rows, which declarations cannot define. */
  readonly reports?: readonly Report[];
  /** The fields that an app adds to users and that they may change themselves. */
  readonly selfEditable?: readonly string[];
  /** Operations of modules that belong to no resource. */
  readonly operations?: readonly DeclaredModuleOperation[];
}

/**
 * Validates the declarations of an app and of the server, and returns the frozen model.
 * @throws OperatorError with one line: resource, field and remedy
 */
export function buildModel(
  app: App,
  ownResources: readonly Resource[],
  { explainsFailures = false, reports = [], operations = [], selfEditable: added = [] }: ModelOptions = {},
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
    byName.set(resource.name, draftOf(resource, app.version, own.has(resource)));
  }
  for (const resource of declared) addAttributes(resource, byName);
  for (const resource of declared) {
    const draft = byName.get(resource.name)!;
    Object.assign(draft, countsOf(resource, draft, byName));
  }
  for (const each of byName.values()) addRestoration(each);
  for (const each of byName.values()) each.collections = collectionsOf([...byName.values()], each);
  for (const resource of declared) addNamedAttributes(resource, byName.get(resource.name)!);
  for (const { filters } of byName.values())
    for (const { related, attribute, operators } of filters.values()) {
      const draft = related && operators.has("eq") && byName.get(related.resource.name);
      if (draft) draft.indexes = withIndexOf(draft, attribute);
    }
  for (const { counts } of byName.values())
    for (const each of counts.values()) {
      const draft = byName.get(each.resource.name)!;
      draft.indexes = withIndexOfCount(draft, each);
    }
  validateParents(byName.values());
  const drafts = [...byName.values()];
  for (const each of drafts) {
    each.isRestricted = isRestricted(each);
    each.refusable = refusableOperations(each);
    each.children = childrenOf(drafts, each);
    each.dependents = referencesTo(drafts, each, "cascade");
    each.clearedReferences = referencesTo(drafts, each, "setNull");
    each.linkedFrom = linkedFrom(drafts, each);
  }
  for (const each of drafts) validateKeptCounts(each);

  addDeletedRows(drafts);
  requireUniqueStoredNames(drafts);
  const resources = drafts.map((each) => Object.freeze(each));
  const scopesOf = (each: readonly Resource[]): readonly string[] => {
    const scoped = each.filter(hasScopes).map(({ name }) => byName.get(name)!.scopes);
    return [...new Set(scoped.flatMap(({ read, write }) => [read, write]))];
  };
  const selfEditable = Object.freeze(["name", "email", ...added]);
  const operationsOfModules = (resource: Model["resource"]): readonly ModuleOperation[] =>
    operations.flatMap((each) => (typeof each === "function" ? each({ resource, selfEditable }) : each));
  const ofModules = operationsOfModules(currentResources(byName, Object.keys(app.versions)));
  const moduleScopes = ofModules.flatMap(({ scope, resource }) => (resource ? [] : (scope ?? [])));
  const deprecations = Object.entries(app.versions).flatMap(([name, { deprecated }]) =>
    deprecated ? [[name, deprecated] as const] : [],
  );
  const ownVersioned = ownResources.filter(({ declaration }) => declaration.version !== undefined);
  const versions = {
    current: app.version,
    older: Object.keys(app.versions),
    own: new Set(ownVersioned.map(({ name }) => name)),
    deprecated: new Map(deprecations),
  };
  const routes = app.routes.map((each) => {
    const modelOf = modelsOf(byName, `route ${each.path}`);
    return routeModel(each, modelOf, { versions, explainsFailures });
  });
  const routeScopes = routes.flatMap(({ scope }) => scope ?? []);
  const scopes = [...new Set([...scopesOf(declared), ...moduleScopes, ...routeScopes])];
  const older = olderVersionsOf(app, declared, byName);
  // One that only an older version has refers to others by their names in that version.
  const served = resources.map((each) => resourceIn(older, each) ?? each);
  const currentOperations = operationsOf(served, versions, reports, ofModules, routes);
  const ids = new Set(currentOperations.map(({ id }) => id));
  const olderVersions = older.map(({ served, ...version }) => {
    const modules = operationsOfModules(version.resource);
    return Object.freeze({
      ...version,
      operations: olderOperationsOf(version.name, served, versions, reports, modules, ids),
    });
  });
  const model = {
    name: app.name,
    version: app.version,
    olderVersions,
    resources,
    resource: byName,
    routes,
    operations: currentOperations,
    scopes,
    roles: rolesOf(app, scopes, new Set([...scopesOf(ownResources), ...moduleScopes])),
    hasPublicReads: resources.some(({ access }) => access.list.isPublic || access.get.isPublic),
    selfEditable,
    explainsFailures,
  };
  validateModel(model);
  return Object.freeze(model);
}

function resourceIn(
  versions: readonly VersionDraft[],
  { name, version }: ResourceModel,
): ResourceModel | undefined {
  return versions.find((each) => each.name === version)?.resource.get(name);
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

/** @param isOwn whether it is one of the server itself */
function draftOf({ name, declaration }: Resource, currentVersion: string, isOwn: boolean): Draft {
  const several = declaration.plural ?? plural(name);
  const stored = storedNames(name, several, declaration.was);
  // Credentials keep the scopes that they have.
  const scopeName = kebabCase(stored.plural);
  const scopes = declaration.scopes ?? { read: `${scopeName}:read`, write: `${scopeName}:write` };
  return {
    name,
    isOwn,
    storedName: stored.name,
    title: spaceCase(name),
    plural: several,
    segment: kebabCase(several),
    table: snakeCase(stored.plural),
    idPrefix: snakeCase(stored.name),
    description: declaration.description,
    attributes: [],
    attribute: new Map(),
    counts: new Map(),
    keptCounts: [],
    references: [],
    links: [],
    linkedFrom: [],
    files: [],
    excludedFromETag: [],
    parent: undefined,
    children: [],
    dependents: [],
    clearedReferences: [],
    collections: new Map(),
    filters: new Map(),
    sorts: new Map(),
    search: [],
    indexes: [],
    elementIndexes: [],
    scopes,
    access: readAccesses(scopes.read, declaration),
    version: isOwn ? currentVersion : (declaration.version ?? currentVersion),
    isExposed: declaration.exposed ?? true,
    recordsEvents: declaration.events ?? true,
    requiresIdempotencyKey: declaration.idempotencyKey === "required",
    operations: new Set(declaration.operations ?? operationNames),
    tools: offeredTools(declaration, isOwn),
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
    isSoftDeleted: Boolean(declaration.softDelete),
    purgeAfterDays:
      typeof declaration.softDelete === "object" ? declaration.softDelete.purgeAfterDays : undefined,
    deletedRows: undefined,
    deletedOf: undefined,
    actions: new Map(),
    collectionActions: new Map(),
    nestedUnder: [],
    deprecated: declaration.deprecated,
    deprecatedOperations: declaration.deprecatedOperations ?? {},
    returnsOnce: declaration.returnsOnce ?? {},
    schemas: { create: {}, replace: {}, update: {}, hookResult: {} },
  };
}
