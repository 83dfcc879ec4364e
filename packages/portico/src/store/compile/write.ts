// Inserts, updates and deletes. Each returns the row after the write (before it, for a delete) as JSON text.

import { type RawBuilder, sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { recordedRow, wholeRow } from "../../query/selection.ts";
import type { Delete, EventAction, Insert, Recorded, RowValues, Update } from "../../query/write.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { storedAttributes } from "../schema/resource-table.ts";
import { searchColumn } from "../schema/table.ts";
import { searchText } from "../search/index-terms.ts";
import { compile, parameter } from "../statement.ts";
import { columnsOf } from "./columns.ts";
import { rowJson, rowValue } from "./row.ts";

/** A write with the number of its tenant. */
export type Stored<Write> = Write & { readonly tenantNo: number | null };

export function compileInsert(dialect: Dialect, resource: ResourceModel): Statement<Stored<Insert>> {
  return compile(
    dialect.builder,
    sql`${insertion(dialect, resource)} returning ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

/**
 * The statement that inserts the event of a row. The table `recordable` has its id and its JSON under the names of events,
 * in the columns `id` and `recorded`.
 */
export type EventInsertion = (resource: ResourceModel, action: EventAction) => RawBuilder<unknown>;

/** An insert that also records its event. PostgreSQL only, as are the two that follow. */
export function compileRecordedInsert(
  dialect: Dialect,
  resource: ResourceModel,
  eventInsertion: EventInsertion,
): Statement<Stored<Recorded<Insert>>> {
  const write = insertion(dialect, resource);
  return compile(dialect.builder, withEvent(dialect, resource, write, eventInsertion(resource, "created")));
}

/** An update, of a row that its transaction has locked, that also records its event. @param attributes as of `compileUpdate` */
export function compileRecordedUpdate(
  dialect: Dialect,
  resource: ResourceModel,
  attributes: readonly Attribute[],
  action: EventAction,
  eventInsertion: EventInsertion,
): Statement<Stored<Recorded<Update>>> {
  const write = sql`${updating(dialect, resource, attributes)} and ${isInTransaction}`;
  const recorded = withEvent(dialect, resource, write, eventInsertion(resource, action));
  return compile(dialect.builder, recorded, { needsTransaction: true });
}

/** The same for a delete. */
export function compileRecordedDelete(
  dialect: Dialect,
  resource: ResourceModel,
  eventInsertion: EventInsertion,
): Statement<Stored<Recorded<Delete>>> {
  const write = sql`${deletion(resource)} and ${isInTransaction}`;
  const recorded = withEvent(dialect, resource, write, eventInsertion(resource, "deleted"));
  return compile(dialect.builder, recorded, { needsTransaction: true });
}

/** A transaction has an id once it has locked a row; a statement alone gets its id when it writes. */
const isInTransaction = sql`pg_current_xact_id_if_assigned() is not null`;

/**
 * A write that also inserts its event, and returns the row as JSON.
 *
 * @param write without `returning`
 * @param eventInsert the result of an `EventInsertion`
 */
function withEvent(
  dialect: Dialect,
  resource: ResourceModel,
  write: RawBuilder<unknown>,
  eventInsert: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const selection = wholeRow(resource);
  const columns = columnsOf(undefined, selection);
  const recorded = recordedRow(resource);
  const recordable =
    recorded === selection
      ? sql`select id, "row" as recorded from shown`
      : sql`select id, ${rowValue(dialect, "written", recorded)} as recorded from written`;
  return sql`with written as (${write} returning ${sql.join(columns)}),
      shown as (select id, ${rowValue(dialect, "written", selection)} as "row" from written),
      recordable as (${recordable}),
      recorded as (${eventInsert})
      select "row" from shown`;
}

function insertion(dialect: Dialect, resource: ResourceModel): RawBuilder<unknown> {
  const stored = storedAttributes(resource);
  const names = ["tenant_no", ...stored.map((attribute) => attribute.column)];
  const values = [
    parameter(({ tenantNo }: Stored<Insert>) => tenantNo),
    ...stored.map((attribute) => valueParameter(dialect, attribute)),
  ];
  if (resource.search.length > 0) {
    names.push(searchColumn);
    values.push(parameter(({ values: row }: Insert) => searchWords(resource, row)));
  }
  return sql`insert into ${sql.table(resource.table)} (${sql.join(names.map((name) => sql.ref(name)))})
    values (${sql.join(values)})`;
}

/**
 * Sets the given attributes. If one of them is searched, `Update.values` must contain all searched attributes, because
 * the search words of the row are computed from all of them.
 */
export function compileUpdate(
  dialect: Dialect,
  resource: ResourceModel,
  attributes: readonly Attribute[],
): Statement<Stored<Update>> {
  return compile(
    dialect.builder,
    sql`${updating(dialect, resource, attributes)} returning ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

function updating(
  dialect: Dialect,
  resource: ResourceModel,
  attributes: readonly Attribute[],
): RawBuilder<unknown> {
  const assignments = attributes.map(
    (attribute) => sql`${sql.ref(attribute.column)} = ${valueParameter(dialect, attribute)}`,
  );
  if (attributes.some((attribute) => resource.search.includes(attribute))) {
    assignments.push(
      sql`${sql.ref(searchColumn)} = ${parameter(({ values }: Update) => searchWords(resource, values))}`,
    );
  }
  return sql`update ${sql.table(resource.table)} set ${sql.join(assignments)} where ${target()}`;
}

export function compileDelete(dialect: Dialect, resource: ResourceModel): Statement<Stored<Delete>> {
  return compile(
    dialect.builder,
    sql`${deletion(resource)} returning ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

function deletion({ table }: ResourceModel): RawBuilder<unknown> {
  return sql`delete from ${sql.table(table)} where ${target()}`;
}

/** Rows to delete by their ids. */
export interface DeleteMany {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly ids: readonly string[];
}

/** Returns the id and the text of each row. The ids are bound as one JSON list, so one statement serves any number. */
export function compileDeleteMany(dialect: Dialect, resource: ResourceModel): Statement<Stored<DeleteMany>> {
  const tenantNo = parameter(({ tenantNo }: Stored<DeleteMany>) => tenantNo);
  const ids = parameter(({ ids }: DeleteMany) => JSON.stringify(ids));
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(resource.table)} where tenant_no = ${tenantNo} and id in (${dialect.textsOf(ids)})
      returning id, ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

function target() {
  const tenantNo = parameter((write: Stored<Update | Delete>) => write.tenantNo);
  return sql`tenant_no = ${tenantNo} and id = ${parameter((write: Update | Delete) => write.id)}`;
}

function valueParameter(dialect: Dialect, attribute: Attribute) {
  const { name } = attribute;
  // Own members only: a field may be called `constructor`.
  return parameter(({ values }: Insert | Update) =>
    dialect.encode(attribute, Object.hasOwn(values, name) ? values[name] : undefined),
  );
}

function searchWords({ search }: ResourceModel, values: RowValues): string {
  return searchText(search.map(({ name }) => values[name]));
}
