// Reads single events again, for work that was queued for them.

import { sql } from "kysely";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { positionOf, selectNewest, storedEventOf } from "./event-queries.ts";
import { Position } from "./position.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { StoredNames } from "./stored-names.ts";

/** `sequences`: a JSON list */
const selectBySequence = defineQuery(
  [eventsTable],
  (db, { sequences }: ParametersOf<{ sequences: string }>, dialect) =>
    db
      .selectFrom("events")
      .select([
        ...(["sequence", "id", "tenant_no as tenantId", "resource", "kind", "row_id as rowId"] as const),
        ...(["created_at as createdAt", "row", "deleted_parents as deletedParents"] as const),
        dialect.name === "sqlite"
          ? sql<number>`0`.as("transactionId")
          : sql<number>`transaction_id`.as("transactionId"),
      ])
      .where(
        "sequence",
        "in",
        dialect.name === "sqlite"
          ? sql<number>`(select value from json_each(${sequences}))`
          : sql<number>`(select value::bigint from json_array_elements_text(${sequences}::json))`,
      ),
);

/** The events with these sequence numbers, by number, with current names. Those that were purged are missing. */
export async function findEvents(
  store: Store,
  names: StoredNames,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, RecordedEvent>> {
  if (sequences.length === 0) return new Map();
  const input = { sequences: JSON.stringify(sequences) };
  const rows = await selectBySequence(store).all(store.database, input);
  return new Map(rows.map((row) => [row.sequence, names.currentEvent(storedEventOf(row))]));
}

/** How far the order of events and that of their times may differ: longer than a transaction takes. */
const maxDisorderMs = 60_000;

const selectFirstFrom = defineQuery([eventsTable], (db, { from }: ParametersOf<{ from: number }>, dialect) =>
  db
    .selectFrom("events")
    .select([
      "sequence",
      "created_at as createdAt",
      dialect.name === "sqlite"
        ? sql<number>`0`.as("transactionId")
        : sql<number>`transaction_id`.as("transactionId"),
    ])
    .where("sequence", ">=", from)
    .orderBy("sequence")
    .limit(sql.lit(1)),
);

/**
 * A position before all events that are not older than a time, and not much before. There is no index on the times, so it
 * is searched by bisection.
 */
export async function positionBefore(store: Store, time: number): Promise<Position> {
  const from = new Date(time - maxDisorderMs).toISOString();
  const newest = (await selectNewest(store).first(store.database))?.sequence ?? 0;
  let position = Position.start;
  for (let [low, high] = [0, newest]; low < high; ) {
    const middle = Math.floor((low + high) / 2);
    const event = await selectFirstFrom(store).first(store.database, { from: middle });
    if (event && event.createdAt < from) {
      low = event.sequence + 1;
      position = positionOf(event);
    } else high = middle;
  }
  return position;
}

/** Whether events after one with this time can be older than another time. */
export function mayPrecede(createdAt: string, time: number): boolean {
  return Date.parse(createdAt) <= time + maxDisorderMs;
}
