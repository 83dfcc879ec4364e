// Inserts several rows of one resource and tenant, with their events, as one statement. PostgreSQL only.

import { sql } from "kysely";
import type { ResourceModel } from "../../model/model.ts";
import type { Insert, Recorded } from "../../query/write.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { columnType, storedAttributes } from "../schema/resource-table.ts";
import { type ColumnType, searchColumn } from "../schema/table.ts";
import { compile, parameter } from "../statement.ts";
import {
  type EventInsertion,
  eventColumns,
  recordedRows,
  searchWordsOf,
  storedValue,
  writtenRows,
} from "./write.ts";

/** Rows of one resource and tenant. */
export interface InsertMany {
  readonly tenantNo: number | null;
  /** Each as the text that `textOf` returns. */
  readonly rows: readonly string[];
}

export interface InsertManyStatement {
  /** Returns the id and the JSON of each row, in any order. */
  readonly statement: Statement<InsertMany>;
  /** A row and its event as one JSON text. */
  readonly textOf: (insert: Recorded<Insert>) => string;
}

/** A column of the rows as the statement gets them. */
interface GivenColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly read: (insert: Recorded<Insert>) => unknown;
}

/** @param eventInsertion inserts the events; undefined if the resource records none */
export function compileInsertMany(
  dialect: Dialect,
  resource: ResourceModel,
  eventInsertion: EventInsertion | undefined,
): InsertManyStatement {
  const columns = columnsOfRow(dialect, resource);
  const given = eventInsertion ? [...columns, ...columnsOfEvent] : columns;
  const rows = parameter(({ rows: texts }: InsertMany) => `[${texts.join()}]`, "rows");
  const tenantNo = parameter(({ tenantNo: no }: InsertMany) => no, "tenant");
  // JSON within JSON is a text, because null in JSON is not the null of a column.
  const typeOf = ({ type }: GivenColumn): string => dialect.columnType[type === "json" ? "text" : type];
  const definitions = given.map((column) => sql`${sql.ref(column.name)} ${sql.raw(typeOf(column))}`);
  const names = columns.map(({ name }) => sql.ref(name));
  const values = columns.map(({ name, type }) =>
    type === "json" ? sql`${sql.ref(name)}::json` : sql.ref(name),
  );
  const write = sql`insert into ${sql.table(resource.table)} (tenant_no, ${sql.join(names)})
    select ${tenantNo}::integer, ${sql.join(values)} from given`;
  const events = eventInsertion
    ? sql`, ${recordedRows(dialect, resource, eventInsertion(resource, "created"), sql`join given as e on e.id = w.id`)}`
    : sql``;
  return {
    statement: compile(
      dialect.builder,
      sql`with given as materialized (select * from json_to_recordset(${rows}::json) as g (${sql.join(definitions)})),
      ${writtenRows(dialect, resource, write)}${events} select id, "row" from shown`,
    ),
    textOf: (insert) =>
      JSON.stringify(Object.fromEntries(given.map(({ name, read }) => [name, read(insert)]))),
  };
}

function columnsOfRow(dialect: Dialect, resource: ResourceModel): GivenColumn[] {
  const columns = storedAttributes(resource).map(
    (attribute): GivenColumn => ({
      name: attribute.column,
      type: columnType(attribute),
      read: ({ values }) => storedValue(dialect, attribute, values),
    }),
  );
  if (resource.search.length === 0) return columns;
  return [
    ...columns,
    { name: searchColumn, type: "text", read: ({ values }) => searchWordsOf(resource, values) },
  ];
}

const columnsOfEvent: readonly GivenColumn[] = [
  { name: eventColumns.id, type: "text", read: ({ event }) => event.id },
  { name: eventColumns.credentialId, type: "text", read: ({ event }) => event.credentialId },
  { name: eventColumns.at, type: "timestamp", read: ({ event }) => event.at },
];
