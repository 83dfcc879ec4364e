// The queries that read events in the order of their positions.

import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "../store/dialect.ts";
import { defineQuery, type ParametersOf, type QueryRow } from "../store/own-tables/query.ts";
import { eventsTable } from "./event.ts";
import { Position } from "./position.ts";
import type { EventRange } from "./recorded-event.ts";
import type { StoredEvent } from "./stored-names.ts";

/** Events that one poll reads. If there are more, the next poll follows immediately. */
export const maxBatchSize = 250;
/** Bounds of a range. It always has at least one event, whatever its size. */
const maxRangeSize = 32;
const maxRangeBytes = 256 * 1024;

/** A position as parameters. */
export interface After {
  readonly afterTransaction: number;
  readonly afterSequence: number;
}

export function afterPosition({ transactionId, sequence }: Position): After {
  return { afterTransaction: transactionId, afterSequence: sequence };
}

export interface Until {
  readonly untilTransaction: number;
  readonly untilSequence: number;
}

export function untilPosition({ transactionId, sequence }: Position): Until {
  return { untilTransaction: transactionId, untilSequence: sequence };
}

interface RangeInput extends After, Until {
  readonly tenantId: string;
  readonly resource: string;
}

export function rangeInput({ tenantId, resource, after, until }: EventRange): RangeInput {
  return { tenantId, resource, ...afterPosition(after), ...untilPosition(until) };
}

export function isAfter({ name }: Dialect, input: ParametersOf<After>): RawBuilder<boolean> {
  return name === "sqlite"
    ? sql<boolean>`sequence > ${input.afterSequence}`
    : sql<boolean>`(transaction_id, sequence) > (${input.afterTransaction}::bigint, ${input.afterSequence}::bigint)`;
}

export function isUntil({ name }: Dialect, input: ParametersOf<Until>): RawBuilder<boolean> {
  return name === "sqlite"
    ? sql<boolean>`sequence <= ${input.untilSequence}`
    : sql<boolean>`(transaction_id, sequence) <= (${input.untilTransaction}::bigint, ${input.untilSequence}::bigint)`;
}

/** On SQLite the table has no transactions. */
export function transactionId({ name }: Dialect): RawBuilder<number> {
  return name === "sqlite" ? sql<number>`0` : sql<number>`transaction_id`;
}

export function inOrder({ name }: Dialect, direction: "asc" | "desc" = "asc"): RawBuilder<unknown> {
  const each = sql.raw(direction);
  return name === "sqlite" ? sql`sequence ${each}` : sql`transaction_id ${each}, sequence ${each}`;
}

export const eventColumns = [
  ...(["sequence", "id", "tenant_no as tenantId", "resource", "kind", "row_id as rowId"] as const),
  "created_at as createdAt",
] as const;

/**
 * The next events. Those of transactions from the horizon on are not complete yet, and come without their rows.
 *
 * `horizon`: transactions before this one have ended. So have, at least, those before the oldest that the statement sees.
 */
export const selectNew = defineQuery(
  [eventsTable],
  (db, input: ParametersOf<After & { horizon: number }>, dialect) => {
    const isComplete =
      dialect.name === "sqlite"
        ? sql<boolean>`${sql.lit(1)}`
        : sql<boolean>`transaction_id < greatest(${input.horizon}::bigint, pg_snapshot_xmin(pg_current_snapshot())::text::bigint)`;
    return db
      .selectFrom("events")
      .select([
        ...eventColumns,
        transactionId(dialect).as("transactionId"),
        isComplete.as("isComplete"),
        sql<string>`case when ${isComplete} then "row" end`.as("row"),
        sql<string | null>`case when ${isComplete} then deleted_parents end`.as("deletedParents"),
      ])
      .where(isAfter(dialect, input))
      .orderBy(inOrder(dialect))
      .limit(sql.lit(maxBatchSize));
  },
);

export const selectPositions = defineQuery([eventsTable], (db, input: ParametersOf<After>, dialect) =>
  db
    .selectFrom("events")
    .select(["sequence", transactionId(dialect).as("transactionId")])
    .where(isAfter(dialect, input)),
);

export const selectRange = defineQuery(
  [eventsTable],
  (db, range: ParametersOf<RangeInput>, dialect) => {
    const order = inOrder(dialect);
    const next = db
      .selectFrom("events")
      .select([
        "sequence",
        transactionId(dialect).as("transaction_id"),
        sql<number>`octet_length(cast("row" as text))`.as("bytes"),
      ])
      .where("tenant_no", "=", range.tenantId)
      .where("resource", "=", range.resource)
      .where(isAfter(dialect, range))
      .where(isUntil(dialect, range))
      .orderBy(order)
      .limit(sql.lit(maxRangeSize));
    const sized = db
      .selectFrom(next.as("next"))
      .select(["sequence", sql<number>`sum(bytes) over (order by ${order}) - bytes`.as("bytes_before")]);
    const fitting = db
      .selectFrom(sized.as("sized"))
      .select("sequence")
      .where("bytes_before", "<", sql.lit(maxRangeBytes));
    return db
      .selectFrom("events")
      .select([
        ...eventColumns,
        "row",
        "deleted_parents as deletedParents",
        transactionId(dialect).as("transactionId"),
      ])
      .where("sequence", "in", fitting)
      .orderBy(order);
  },
  // Many subscribers can read ranges at the same time, so these reads are queued by tenant.
  { mayScan: true, tenantOf: ({ tenantId }: RangeInput) => tenantId },
);

export const selectNewest = defineQuery([eventsTable], (db) =>
  db.selectFrom("events").select(({ fn }) => fn.max("sequence").as("sequence")),
);

export type EventRow = QueryRow<typeof selectRange>;

/** The event of a row, with the names that are stored. */
export function storedEventOf({ sequence, transactionId: transaction, ...event }: EventRow): StoredEvent {
  return { ...event, position: new Position(transaction, sequence) };
}

export function positionOf(row: { readonly transactionId: number; readonly sequence: number }): Position {
  return new Position(row.transactionId, row.sequence);
}
