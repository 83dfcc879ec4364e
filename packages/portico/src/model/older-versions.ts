// Older versions of the API. In each of them a resource has the names that its fields had then. It is a resource of its
// own for what describes requests and responses; reads and writes are those of the current resource.

import type { App } from "../declare/app.ts";
import type { LooseDeclaration, Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { attributeName, type Draft } from "./attributes.ts";
import { bodySchemas } from "./json-schema.ts";
import type { Attribute, CountModel, FilterModel, ResourceModel } from "./model.ts";
import { deletedParameter } from "./operation-parameters.ts";
import { namePattern, reservedParameters, serverManagedFields } from "./validate-declaration.ts";
import { validateDeprecation } from "./validate-field.ts";

/** The resources of an older version, before its operations are known. */
export interface VersionDraft extends Pick<ResourceModel, "deprecated"> {
  readonly name: string;
  /** By the names of the resources, also those that it does not serve: others refer to them. */
  readonly resource: ReadonlyMap<string, ResourceModel>;
  /** Those that it serves. */
  readonly served: readonly ResourceModel[];
}

/**
 * The older versions of an app, the newest first.
 * @param resources with all their attributes
 * @throws OperatorError with one line: resource, version and remedy
 */
export function olderVersionsOf(
  app: App,
  declared: readonly Resource[],
  resources: ReadonlyMap<string, ResourceModel>,
): readonly VersionDraft[] {
  for (const { name, declaration } of declared) validateVersions(name, declaration, app);
  const numberOf = (version: string): number => Number(version.slice(1));
  const names = Object.keys(app.versions).toSorted((a, b) => numberOf(b) - numberOf(a));
  return names.map((name) => {
    const { deprecated } = app.versions[name]!;
    validateDeprecation(deprecated, (remedy) => {
      throw new OperatorError(`app, versions, ${name}: ${remedy}`);
    });
    return { name, deprecated, ...resourcesIn(name, app.version, declared, resources) };
  });
}

/** @throws OperatorError */
function validateVersions(resource: string, { version, versions }: LooseDeclaration, app: App): void {
  if (versions === undefined) return;
  const refuse = (remedy: string): never => {
    throw new OperatorError(`resource ${resource}, versions: ${remedy}`);
  };
  if (typeof versions !== "object" || versions === null)
    refuse('write the names of fields by version: versions: { v1: { title: "headline" } }');
  if (version !== undefined && version !== app.version)
    refuse(`the resource is only in ${version}; remove version or versions`);
  for (const [name, table] of Object.entries(versions)) {
    if (!Object.hasOwn(app.versions, name))
      refuse(`the app serves no older version ${name}; add it to app: versions: { ${name}: {} }`);
    if (table !== false && (typeof table !== "object" || table === null))
      refuse(`write ${name} as false, or as the names that its fields have there: { title: "headline" }`);
  }
}

function resourcesIn(
  version: string,
  currentVersion: string,
  declared: readonly Resource[],
  resources: ReadonlyMap<string, ResourceModel>,
): Pick<VersionDraft, "resource" | "served"> {
  const all = new Map<string, Draft>();
  // They refer to each other, so each exists before its attributes do.
  for (const [name, current] of resources) all.set(name, { ...current, version, current });
  const served: ResourceModel[] = [];
  for (const { name, declaration } of declared) {
    const older = all.get(name)!;
    const table = declaration.versions?.[version];
    const names = new FieldNames(name, version, declaration, table || {});
    rename(older, names, all);
    if (older.deletedRows) older.deletedRows = olderDeletedRows(older.deletedRows, version, names, all);
    for (const rows of [older, older.deletedRows]) if (rows) names.requireDistinct(rows);
    names.requireCreatable(older);
    const isCurrent = older.current!.version === currentVersion;
    if (table !== false && isCurrent) served.push(older);
    else if (older.current!.version !== version) older.isExposed = false;
  }
  for (const each of all.values()) {
    each.filters = filtersIn(each, all);
    if (each.deletedRows) Object.assign(each.deletedRows, { filters: each.filters });
    Object.freeze(each);
  }
  return { resource: all, served };
}

function olderDeletedRows(
  current: ResourceModel,
  version: string,
  names: FieldNames,
  all: ReadonlyMap<string, ResourceModel>,
): ResourceModel {
  const older: Draft = { ...current, version, current };
  rename(older, names, all);
  return older;
}

/** Gives the attributes, counts and sorts of a resource the names of an older version. */
function rename(older: Draft, names: FieldNames, all: ReadonlyMap<string, ResourceModel>): void {
  const { attributes, counts, sorts } = older;
  older.attributes = attributes.flatMap((attribute) => names.attribute(attribute, all) ?? []);
  older.attribute = new Map(older.attributes.map((each) => [each.name, each]));
  older.parent = older.attributes.find(({ current }) => current === older.parent);
  older.references = older.attributes.filter(({ reference }) => reference);
  older.nestedUnder = older.nestedUnder.filter(
    (each) => each === "tenant" || older.attributes.some(({ current }) => current === each),
  );
  older.links = older.attributes.filter(({ links }) => links);
  older.files = older.attributes.filter(({ field }) => field.kind === "file");
  older.excludedFromETag = older.attributes
    .filter(({ field }) => field.options.excludeFromETag)
    .map(({ name }) => name);
  older.counts = new Map(
    [...counts.values()].flatMap((current): [string, CountModel][] => {
      const name = names.of(current.name);
      return name === undefined ? [] : [[name, Object.freeze({ ...current, name, current })]];
    }),
  );
  // Reads are sorted by the attributes of the current resource, in which its indexes are.
  older.sorts = new Map(
    older.attributes
      .filter(({ current }) => current && sorts.get(current.name) === current)
      .map(({ name, current }) => [name, current!]),
  );
  older.schemas = bodySchemas(older);
}

/** The filters of a resource by their paths in an older version. They compare attributes of current resources. */
function filtersIn(
  older: ResourceModel,
  all: ReadonlyMap<string, ResourceModel>,
): ReadonlyMap<string, FilterModel> {
  const nameIn = (resource: ResourceModel, attribute: Attribute): string | undefined =>
    resource.attributes.find(({ current }) => current === attribute)?.name;
  const filters = [...older.filters.values()].flatMap((filter): [string, FilterModel][] => {
    const { related, attribute } = filter;
    if (!related) {
      const name = nameIn(older, attribute);
      return name === undefined ? [] : [[name, { ...filter, name }]];
    }
    const field = nameIn(all.get(related.resource.name)!, attribute);
    const { reference } = related;
    const by = older.attributes.find(({ current }) => current === reference);
    // A reference or a many-to-many field of the row. Other rows that refer to it have the name of their resource.
    const isOwn = (reference.reference ?? reference.links)?.name === related.name;
    const rows = isOwn ? (by?.reference ?? by?.links)?.name : related.name;
    if (field === undefined || rows === undefined) return [];
    const name = `${rows}.${field}`;
    return [[name, { ...filter, name }]];
  });
  return new Map(filters);
}

/** The names that the fields of a resource have in an older version. */
class FieldNames {
  readonly #names = new Map<string, string | undefined>();
  readonly #refuse: (remedy: string) => never;

  /** @throws OperatorError */
  constructor(
    resource: string,
    version: string,
    { fields }: LooseDeclaration,
    table: Readonly<Record<string, string | false>>,
  ) {
    this.#refuse = (remedy) => {
      throw new OperatorError(`resource ${resource}, versions, ${version}: ${remedy}`);
    };
    for (const field of Object.keys(fields))
      if (Object.hasOwn(table, field)) this.#names.set(field, undefined);
    for (const [name, field] of Object.entries(table)) {
      const target = field === false ? name : field;
      if (typeof target !== "string" || !Object.hasOwn(fields, target))
        this.#refuse(`there is no field ${target}; use one of ${Object.keys(fields).join(", ")}`);
      if (field === false) continue;
      if (!namePattern.test(name) || serverManagedFields.includes(name) || reservedParameters.includes(name))
        this.#refuse(`no field can be called ${name}; choose another name`);
      if (this.#names.get(field) !== undefined)
        this.#refuse(`${field} has two names, ${this.#names.get(field)} and ${name}; remove one`);
      this.#names.set(field, name);
    }
  }

  /** @returns undefined for a field that the version does not have */
  of(field: string): string | undefined {
    return this.#names.has(field) ? this.#names.get(field) : field;
  }

  attribute(current: Attribute, all: ReadonlyMap<string, ResourceModel>): Attribute | undefined {
    const { reference, links, field } = current;
    const rows = reference ?? links;
    const declared = rows?.name ?? current.name;
    const name = this.of(declared);
    if (name === undefined) return undefined;
    const related = rows && { name, target: all.get(rows.target.name)! };
    return Object.freeze({
      ...current,
      name: name === declared ? current.name : attributeName(name, field),
      reference: reference && related,
      links: links && related,
      current,
    });
  }

  /** @throws OperatorError if two fields have one name, or one has that of a query parameter */
  requireDistinct({ attributes, counts, isSoftDeleted }: ResourceModel): void {
    const names = attributes.flatMap(({ name, reference, links }) => [
      name,
      (reference ?? links)?.name ?? [],
    ]);
    const all = [...names.flat(), ...counts.keys()];
    const twice = all.find((name, index) => all.indexOf(name) < index);
    if (twice !== undefined) this.#refuse(`two fields are called ${twice}; give one another name, or false`);
    if (isSoftDeleted && all.includes(deletedParameter))
      this.#refuse(`softDelete adds the query parameter ${deletedParameter}; choose another name`);
  }

  /** @throws OperatorError if callers cannot create rows in the version */
  requireCreatable({ current, attributes }: ResourceModel): void {
    if (!current!.isExposed || !current!.operations.has("create")) return;
    const shown = new Set(attributes.map((each) => each.current));
    const missing = current!.attributes.find(
      (each) =>
        !shown.has(each) && !each.isReadOnly && !each.isOptional && !("default" in each.field.options),
    );
    if (missing)
      this.#refuse(
        `new rows need ${missing.name}, which the version does not have; give the field a default, or make it optional`,
      );
  }
}
