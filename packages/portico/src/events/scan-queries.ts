// The queries that scan the events of several resources of a tenant, in the order of their positions or against it.
//
// There is no index on the events of a tenant, on their rows or on their times, because every write would have to
// maintain it. A scan takes the next events of each resource along the index of its events, and merges them. It reads no
// rows: what it finds is filtered first, and `selectFitting` reads the rows of what remains.

import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "../store/dialect.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { eventsTable } from "./event.ts";
import {
  type After,
  eventColumns,
  inOrder,
  isAfter,
  isUntil,
  transactionId,
  type Until,
} from "./event-queries.ts";

/** Events that one scan finds. If there are as many, there may be more. */
export const maxScanned = 250;
/** Bound of the rows that are read together. At least one is read, whatever its size. */
const maxReadBytes = 1024 * 1024;

export interface ScanInput extends After, Until {
  readonly tenantId: string;
  /** A JSON list of the stored names of resources. */
  readonly resources: string;
}

function scan(direction: "asc" | "desc") {
  return defineQuery(
    [eventsTable],
    (db, input: ParametersOf<ScanInput>, dialect) => {
      const order = inOrder(dialect, direction);
      const ofResource = sql`select sequence from events
        where tenant_no = ${input.tenantId} and resource = r.value
          and ${isAfter(dialect, input)} and ${isUntil(dialect, input)}
        order by ${order} limit ${sql.lit(maxScanned)}`;
      return db
        .selectFrom("events")
        .select(["sequence", "resource", "kind", "row_id as rowId", "created_at as createdAt"])
        .select(transactionId(dialect).as("transactionId"))
        .where("sequence", "in", ofEachResource(dialect, input.resources, ofResource))
        .orderBy(order)
        .limit(sql.lit(maxScanned));
    },
    { mayScan: true, tenantOf: ({ tenantId }: ScanInput) => tenantId },
  );
}

/**
 * The sequence numbers that a query finds for each of the resources, which it calls `r.value`. SQLite has no lateral joins
 * but of functions, so there the numbers of a resource go through a list.
 */
function ofEachResource(
  { name }: Dialect,
  resources: RawBuilder<string>,
  query: RawBuilder<unknown>,
): RawBuilder<number> {
  return name === "sqlite"
    ? sql`(select e.value from json_each(${resources}) as r,
        json_each((select json_group_array(sequence) from (${query}))) as e)`
    : sql`(select e.sequence from json_array_elements_text(${resources}::json) as r(value)
        cross join lateral (${query}) as e)`;
}

export const scanForward = scan("asc");
export const scanBackward = scan("desc");

/** Events of a resource among which one scan looks for those of some rows. */
export const maxSearched = 50_000;

export interface RowScanInput extends After, Until {
  readonly tenantId: string;
  /** The stored name of the resource. */
  readonly resource: string;
  /** A JSON list of the ids of rows. */
  readonly rowIds: string;
}

const mayScan = { mayScan: true, tenantOf: ({ tenantId }: RowScanInput) => tenantId };

/** The last of the events among which a scan looks for those of some rows; none if all of the range are. */
function searchedEnd(direction: "asc" | "desc") {
  return defineQuery(
    [eventsTable],
    (db, input: ParametersOf<RowScanInput>, dialect) =>
      db
        .selectFrom("events")
        .select(["sequence", transactionId(dialect).as("transactionId")])
        .where("tenant_no", "=", input.tenantId)
        .where("resource", "=", input.resource)
        .where(isAfter(dialect, input))
        .where(isUntil(dialect, input))
        .orderBy(inOrder(dialect, direction))
        .limit(sql.lit(1))
        .offset(sql.lit(maxSearched - 1)),
    mayScan,
  );
}

/** The first events of some rows of a resource. */
function scanRows(direction: "asc" | "desc") {
  return defineQuery(
    [eventsTable],
    (db, input: ParametersOf<RowScanInput>, dialect) =>
      db
        .selectFrom("events")
        .select(["sequence", "resource", "kind", "row_id as rowId", "created_at as createdAt"])
        .select(transactionId(dialect).as("transactionId"))
        .where("tenant_no", "=", input.tenantId)
        .where("resource", "=", input.resource)
        .where(isAfter(dialect, input))
        .where(isUntil(dialect, input))
        .where(
          "row_id",
          "in",
          dialect.name === "sqlite"
            ? sql<string>`(select value from json_each(${input.rowIds}))`
            : sql<string>`(select json_array_elements_text(${input.rowIds}::json))`,
        )
        .orderBy(inOrder(dialect, direction))
        .limit(sql.lit(maxScanned)),
    mayScan,
  );
}

export const rowScans = {
  forward: { searchedEnd: searchedEnd("asc"), scan: scanRows("asc") },
  backward: { searchedEnd: searchedEnd("desc"), scan: scanRows("desc") },
};

interface FittingInput {
  readonly tenantId: string;
  /** A JSON list of sequence numbers. */
  readonly sequences: string;
}

/** The first of some events whose rows fit into the bound, in the order of the list. */
export const selectFitting = defineQuery(
  [eventsTable],
  (db, input: ParametersOf<FittingInput>, dialect) => {
    const listed = db
      .selectFrom(numbered(dialect, input.sequences))
      // SQLite keeps the order of a cross join; it would otherwise walk all events of the tenant.
      .crossJoin("events")
      .select(["sequence", "listed.index", sql<number>`octet_length(cast("row" as text))`.as("bytes")])
      .whereRef("events.sequence", "=", "listed.value")
      .where("tenant_no", "=", input.tenantId);
    const sized = db
      .selectFrom(listed.as("sized"))
      .select([
        "sequence",
        "index",
        sql<number>`sum(bytes) over (order by "index") - bytes`.as("bytes_before"),
      ]);
    return db
      .selectFrom("events")
      .innerJoin(sized.as("fitting"), "fitting.sequence", "events.sequence")
      .select([
        ...eventColumns.map((column) => `events.${column}` as const),
        "row",
        "deleted_parents as deletedParents",
      ])
      .select(transactionId(dialect).as("transactionId"))
      .where("bytes_before", "<", sql.lit(maxReadBytes))
      .orderBy("index");
  },
  { mayScan: true, tenantOf: ({ tenantId }: FittingInput) => tenantId },
);

/** The numbers of a JSON list with their indexes. */
function numbered({ name }: Dialect, list: RawBuilder<string>) {
  const rows =
    name === "sqlite"
      ? sql<{ value: number; index: number }>`(select value, "key" as "index" from json_each(${list}))`
      : sql<{ value: number; index: number }>`(select value::bigint as value, "index"
          from json_array_elements_text(${list}::json) with ordinality as l(value, "index"))`;
  return rows.as<"listed">("listed");
}
