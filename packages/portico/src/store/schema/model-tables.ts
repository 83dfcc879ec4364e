// The tables of a model.

import { OperatorError } from "../../errors.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import { countersOf } from "./counter.ts";
import { elementIndexesOf, elementStateTable, elementTables } from "./element-table.ts";
import { namedIndexes } from "./index-names.ts";
import { indexesOf, resourceTable } from "./resource-table.ts";
import {
  type CheckFill,
  type DatabaseName,
  deferralTable,
  migrationTable,
  type OwnIndex,
  searchOrderTable,
  searchStateTable,
  searchTables,
  type Table,
} from "./table.ts";

/** All tables: those of the model, and the server's own. A referenced table comes before those that refer to it. */
export function tablesOf(
  model: Model,
  ownTables: readonly Table[],
  ownIndexes: readonly OwnIndex[] = [],
  checkFill: CheckFill = (_resource, _attribute, value) => value,
): Table[] {
  const [referencing, plain] = [true, false].map((hasForeignKey) =>
    ownTables.filter((table) => table.foreignKeys.length > 0 === hasForeignKey),
  );
  const resources = parentsFirst(model.resources).flatMap((each) => [
    each,
    ...(each.deletedRows ? [each.deletedRows] : []),
  ]);
  const withoutIndexes = resources.map((resource) => resourceTable(resource, checkFill));
  const named = [...withoutIndexes, ...ownTables];
  const ofResources = withoutIndexes.map((table, position) => ({
    ...table,
    indexes: [
      ...namedIndexes(table, indexesOf(resources[position]!), named),
      ...ownIndexes.filter((each) => each.table === table.name),
    ],
    elementIndexes: elementIndexesOf(resources[position]!),
    counters: countersOf(resources[position]!),
  }));
  requireUniqueNames(model, ownTables);
  return [...plain!, ...ofResources, ...resources.flatMap(elementTables), ...referencing!];
}

/** A table as one of the databases has it. */
export function tableOn(database: DatabaseName, table: Table): Table {
  return {
    ...table,
    columns: table.columns.filter(({ type }) => database === "postgres" || type !== "transaction"),
    indexes: table.indexes.filter((index) => !index.database || index.database === database),
  };
}

/** @throws OperatorError for a resource whose table name is taken by another resource or by the server itself */
function requireUniqueNames({ resources }: Model, ownTables: readonly Table[]): void {
  const own = [...ownTables.map(({ name }) => name), searchOrderTable, deferralTable, migrationTable];
  const owners = new Map(own.map((name) => [name, "the server itself"]));
  const all = resources.flatMap((each) => [each, ...(each.deletedRows ? [each.deletedRows] : [])]);
  for (const resource of all) {
    const { name, table, search } = resource;
    if (/^(sqlite|pg)_/.test(table))
      throw new OperatorError(
        `resource ${name}: names of tables that begin with ${table.split("_")[0]}_ are reserved for the database; set plural, or rename it`,
      );
    const further = elementIndexesOf(resource).flatMap((each) => [each.name, elementStateTable(each)]);
    if (search.length > 0) further.push(...searchTables(table), searchStateTable(table));
    for (const each of [table, ...further]) {
      const owner = owners.get(each);
      if (owner)
        throw new OperatorError(
          `resource ${name}: the table ${each} belongs to ${owner}; set plural, or rename it`,
        );
      owners.set(each, `the resource ${name}`);
    }
  }
}

function parentsFirst(resources: readonly ResourceModel[]): ResourceModel[] {
  const ordered = new Set<ResourceModel>();
  const visit = (resource: ResourceModel, path: ReadonlySet<ResourceModel>): void => {
    if (path.has(resource) || ordered.has(resource)) return;
    for (const { reference } of resource.references) visit(reference!.target, new Set([...path, resource]));
    ordered.add(resource);
  };
  for (const resource of resources) visit(resource, new Set());
  return [...ordered];
}
