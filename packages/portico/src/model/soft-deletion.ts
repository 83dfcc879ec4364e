// Soft deletion: rows that DELETE keeps are in a table of their own, apart from the others. No statement about the rows of
// a resource can therefore find them, and the unique values that they had are free. They are a resource of their own, which
// is read like any other by those who may.

import type { LooseDeclaration } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import type { Draft } from "./attributes.ts";
import { bodySchemas } from "./json-schema.ts";
import {
  type ActionModel,
  type Attribute,
  defaultSort,
  type IndexModel,
  type ResourceModel,
} from "./model.ts";
import { deletedAtName, deletedParameter } from "./operation-parameters.ts";

/** The last segment of the path at which a deleted row is restored. */
export const restorations = "restorations";

/** The columns of tables of deleted rows that belong to no attribute. */
export const deletionColumns = {
  /** The id of the row that was deleted, with which this one was deleted; its own for that row itself. */
  with: "deleted_with",
  /** In which order the rows of one deletion were deleted. */
  order: "deleted_order",
  /** The number that the row had in its table, on SQLite. */
  rowNumber: "deleted_row_no",
} as const;

/** When a row was deleted: an attribute of deleted rows only. */
export const deletedAt = {
  name: deletedAtName,
  storedName: deletedAtName,
  column: "deleted_at",
} as const;

const maxPurgeDays = 3_650;

/** Checks the option without looking at other resources. */
export function validateSoftDelete(
  { softDelete, markOnDelete, operations, actions, fields }: LooseDeclaration,
  refuse: (remedy: string) => never,
): void {
  if (softDelete === undefined || softDelete === false) return;
  if (softDelete !== true) {
    const { purgeAfterDays, ...others }: Record<string, unknown> =
      typeof softDelete === "object" && softDelete !== null ? { ...softDelete } : {};
    const isDays =
      Number.isInteger(purgeAfterDays) &&
      Number(purgeAfterDays) >= 1 &&
      Number(purgeAfterDays) <= maxPurgeDays;
    if (!isDays || Object.keys(others).length > 0)
      refuse(
        `write softDelete: true, or { purgeAfterDays: 30 } with a whole number of days from 1 to ${maxPurgeDays}`,
      );
  }
  if (markOnDelete !== undefined)
    refuse("markOnDelete leaves deleted rows visible, and softDelete hides them; remove one");
  if (operations && !operations.includes("delete"))
    refuse("its operations lack delete, so softDelete has no effect; add delete there, or remove softDelete");
  if (actions && restorations in actions)
    refuse(`softDelete adds the action ${restorations}; choose another name`);
  if (fields && deletedParameter in fields)
    refuse(`softDelete adds the query parameter ${deletedParameter}; choose another name for the field`);
}

/** Adds the action that restores a deleted row. */
export function addRestoration(resource: Draft): void {
  if (!resource.isSoftDeleted) return;
  const action: ActionModel = {
    name: restorations,
    attributes: [],
    attribute: new Map(),
    references: [],
    links: [],
    counts: new Map(),
    files: [],
    schemas: bodySchemas({ attributes: [] }),
    verb: "restore",
    deprecated: undefined,
    run: () => Promise.reject(new Error("the engine restores rows")),
    isRestoration: true,
  };
  resource.actions = new Map([...resource.actions, [restorations, action]]);
}

/**
 * Adds the deleted rows of resources that are deleted softly, and of those whose rows are deleted with theirs.
 * @throws OperatorError for a field whose name the deleted rows need
 */
export function addDeletedRows(drafts: readonly Draft[]): void {
  const kept = new Set<ResourceModel>();
  for (const each of drafts)
    if (each.isSoftDeleted) for (const together of deletedTogether(each)) kept.add(together);
  for (const each of drafts) if (kept.has(each)) each.deletedRows = deletedRowsOf(each);
}

/** The resources whose rows are deleted with a row of a resource. */
function dependentsOf({ children, dependents }: ResourceModel): readonly ResourceModel[] {
  return [...children, ...dependents.map(({ resource }) => resource)];
}

/** All resources whose rows may be deleted with a row of a resource, and itself. */
export function deletedTogether(resource: ResourceModel): ReadonlySet<ResourceModel> {
  const together = new Set([resource]);
  // A set can grow during the iteration.
  for (const each of together) for (const dependent of dependentsOf(each)) together.add(dependent);
  return together;
}

function deletedRowsOf(resource: Draft): ResourceModel {
  const { name, attributes, sorts, indexes, scopes, parent } = resource;
  const columns: readonly string[] = [deletedAt.column, ...Object.values(deletionColumns)];
  const taken = attributes.find(({ column }) => columns.includes(column));
  if (taken)
    throw new OperatorError(
      `resource ${name}, field ${taken.name}: rows that are deleted softly, here or with a row of another resource, have a column of this name; choose another`,
    );
  const access = Object.freeze({ scope: scopes.write, isPublic: false });
  const time: Attribute = Object.freeze({ ...resource.attribute.get(defaultSort)!, ...deletedAt });
  const all = [...attributes, time];
  const byDeletion: IndexModel = {
    columns: [...(parent ? [parent] : []), time, resource.attribute.get("id")!].map((attribute) => ({
      attribute,
      isDescending: false,
    })),
    unique: undefined,
  };
  return Object.freeze({
    ...resource,
    name: `deleted ${name}`,
    title: `deleted ${resource.title}`,
    segment: `deleted-${resource.segment}`,
    table: `deleted_${resource.table}`,
    attributes: all,
    attribute: new Map(all.map((each) => [each.name, each])),
    keptCounts: [],
    children: [],
    dependents: [],
    clearedReferences: [],
    linkedFrom: [],
    elementIndexes: [],
    sorts: new Map([...sorts, [time.name, time]]),
    search: [],
    indexes: [...indexes.filter(({ unique }) => !unique), byDeletion],
    access: Object.freeze({ list: access, get: access }),
    isExposed: false,
    recordsEvents: false,
    isRestricted: true,
    markOnDelete: undefined,
    hooks: {},
    actions: new Map(),
    collectionActions: new Map(),
    isSoftDeleted: false,
    deletedOf: resource,
  });
}
