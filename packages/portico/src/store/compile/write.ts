// Inserts, updates and deletes. Each returns the row after the write (before it, for a delete) as JSON text. Each
// kind of write is one function, so the file is longer than most.

import { type RawBuilder, sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { recordedRow, wholeRow } from "../../query/selection.ts";
import type {
  Delete,
  EventAction,
  EventDetails,
  Insert,
  Recorded,
  RowValues,
  Update,
} from "../../query/write.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { storedAttributes } from "../schema/resource-table.ts";
import { searchColumn } from "../schema/table.ts";
import { searchText } from "../search/index-terms.ts";
import { compile, parameter } from "../statement.ts";
import { computesUpdatedAt, updatedAtColumn, writtenColumn } from "../update-time.ts";
import { columnsOf } from "./columns.ts";
import { rowJson, rowValue } from "./row.ts";

/** A write with the number of its tenant. */
export type Stored<Write> = Write & { readonly tenantNo: number | null };

export function compileInsert(dialect: Dialect, resource: ResourceModel): Statement<Stored<Insert>> {
  const inserted = sql`${insertion(dialect, resource)} returning ${rowJson(dialect, undefined, wholeRow(resource))}`;
  const { table: searchedTable, search } = resource;
  if (dialect.name !== "sqlite" || search.length === 0) return compile(dialect.builder, inserted);
  return compile(dialect.builder, inserted, { searchedTable });
}

/**
 * The statement that inserts the events of rows. The table `recordable` has for each the id of the row and its JSON under
 * the names of events, in the columns `id` and `recorded`, and the `eventColumns`.
 */
export type EventInsertion = (resource: ResourceModel, action: EventAction) => RawBuilder<unknown>;

/** The columns with the `EventDetails`. They contain a space, so that they are not the names of stored columns. */
export const eventColumns = {
  id: "event id",
  credentialId: "event credential",
  at: "event time",
} as const satisfies Readonly<Record<keyof EventDetails, string>>;

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
  const detail = (name: keyof EventDetails, type: string): RawBuilder<unknown> =>
    sql`${parameter(({ event }: Recorded<Insert>) => event[name])}::${sql.raw(type)} as ${sql.ref(eventColumns[name])}`;
  const details = sql`select ${detail("id", "text")}, ${detail("credentialId", "text")}, ${detail("at", "timestamptz")}`;
  return sql`with ${writtenRows(dialect, resource, write)},
    ${recordedRows(dialect, resource, eventInsert, sql`cross join (${details}) as e`)} select "row" from shown`;
}

/** The tables `written`, with the columns of the rows that a write returns, and `shown`, with their ids and JSON. */
export function writtenRows(
  dialect: Dialect,
  resource: ResourceModel,
  write: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const selection = wholeRow(resource);
  return sql`written as (${write} returning ${sql.join(columnsOf(undefined, selection))}),
      shown as (select id, ${rowValue(dialect, "written", selection)} as "row" from written)`;
}

/**
 * The table `recorded`, whose statement inserts the events of the written rows.
 *
 * @param eventInsert the result of an `EventInsertion`
 * @param joined joins a table `e` with the details of the events to the written rows `w`
 */
export function recordedRows(
  dialect: Dialect,
  resource: ResourceModel,
  eventInsert: RawBuilder<unknown>,
  joined: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const recorded = recordedRow(resource);
  const source =
    recorded === wholeRow(resource)
      ? sql`select id, "row" as recorded from shown`
      : sql`select id, ${rowValue(dialect, "written", recorded)} as recorded from written`;
  const details = Object.values(eventColumns).map((name) => sql.ref(`e.${name}`));
  return sql`recordable as (select w.id, w.recorded, ${sql.join(details)} from (${source}) as w ${joined}),
      recorded as (${eventInsert})`;
}

function insertion(dialect: Dialect, resource: ResourceModel): RawBuilder<unknown> {
  const stored = storedAttributes(resource);
  const names = ["tenant_no", ...stored.map(({ column }) => writtenColumn(dialect.name, resource, column))];
  const values = [
    parameter(({ tenantNo }: Stored<Insert>) => tenantNo),
    ...stored.map((attribute) => insertedValue(dialect, resource, attribute)),
  ];
  if (resource.search.length > 0) {
    names.push(searchColumn);
    values.push(parameter(({ values: row }: Insert) => searchWordsOf(resource, row)));
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

/** Rows to update with the same values, by their ids. */
export interface UpdateMany {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly ids: readonly string[];
  readonly values: RowValues;
}

/** `compileUpdate` for several rows. Returns the id and the text of each. @param attributes none that is searched */
export function compileUpdateMany(
  dialect: Dialect,
  resource: ResourceModel,
  attributes: readonly Attribute[],
): Statement<Stored<UpdateMany>> {
  const text = rowJson(dialect, undefined, wholeRow(resource));
  return compile(
    dialect.builder,
    sql`${updating(dialect, resource, attributes, targets(dialect))} returning id, ${text}`,
  );
}

function updating(
  dialect: Dialect,
  resource: ResourceModel,
  attributes: readonly Attribute[],
  where: RawBuilder<unknown> = target(),
): RawBuilder<unknown> {
  const assignments = attributes.map((attribute) => {
    const column = writtenColumn(dialect.name, resource, attribute.column);
    return sql`${sql.ref(column)} = ${valueParameter(dialect, attribute)}`;
  });
  if (attributes.some((attribute) => resource.search.includes(attribute))) {
    assignments.push(
      sql`${sql.ref(searchColumn)} = ${parameter(({ values }: Update) => searchWordsOf(resource, values))}`,
    );
  }
  return sql`update ${sql.table(resource.table)} set ${sql.join(assignments)} where ${where}`;
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

/** Returns the id and the text of each row. */
export function compileDeleteMany(dialect: Dialect, resource: ResourceModel): Statement<Stored<DeleteMany>> {
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(resource.table)} where ${targets(dialect)}
      returning id, ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

/** The rows with some ids, which are bound as one JSON list, so that one statement serves any number. */
function targets(dialect: Dialect): RawBuilder<unknown> {
  const tenantNo = parameter((write: Stored<UpdateMany | DeleteMany>) => write.tenantNo);
  const ids = parameter((write: UpdateMany | DeleteMany) => JSON.stringify(write.ids));
  return sql`tenant_no = ${tenantNo} and id in (${dialect.textsOf(ids)})`;
}

function target() {
  const tenantNo = parameter((write: Stored<Update | Delete>) => write.tenantNo);
  return sql`tenant_no = ${tenantNo} and id = ${parameter((write: Update | Delete) => write.id)}`;
}

/** The value of an attribute in a new row, which stores no time of an update where that is computed. */
function insertedValue(dialect: Dialect, resource: ResourceModel, attribute: Attribute) {
  const isComputed = attribute.column === updatedAtColumn && computesUpdatedAt(dialect.name, resource);
  if (!isComputed) return valueParameter(dialect, attribute);
  return parameter(({ values }: Insert) =>
    values.updatedAt === values.createdAt ? null : storedValue(dialect, attribute, values),
  );
}

function valueParameter(dialect: Dialect, attribute: Attribute) {
  return parameter(({ values }: Insert | Update) => storedValue(dialect, attribute, values));
}

/** The value of an attribute as its column stores it. Own members only: a field may be called `constructor`. */
export function storedValue(dialect: Dialect, attribute: Attribute, values: RowValues): unknown {
  const { name } = attribute;
  return dialect.encode(attribute, Object.hasOwn(values, name) ? values[name] : undefined);
}

export function searchWordsOf({ search }: ResourceModel, values: RowValues): string {
  return searchText(search.map(({ name }) => values[name]));
}
