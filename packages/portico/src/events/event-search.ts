// Finds events by time and by id. There is an index on neither, because every write would have to maintain it. Sequence
// numbers grow with time, apart from the duration of transactions and the errors of clocks, so a binary search over them
// comes close to the event, and what is near is inspected.

import { sql } from "kysely";
import { timeOfId } from "../lib/id.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { positionOf, selectNewest, transactionId } from "./event-queries.ts";
import { completePosition, presentPosition } from "./horizon.ts";
import { Position } from "./position.ts";

/** How much later than its time an event can be recorded, and how much clocks can differ. */
const toleranceMs = 10 * 60 * 1000;
/** Sequence numbers on both sides of the place where an event is expected that are inspected, first the nearest. */
const inspected = [500, 20_000];
/** The same for the last attempt, which inspects only events whose time is near that of the id. */
const maxInspected = 500_000;
/** How much the time of an event can differ from that of its id, if the clock of a process was set meanwhile. */
const idToleranceMs = 60 * 60 * 1000;

/** The first event with at least this sequence number. */
const selectAt = defineQuery([eventsTable], (db, { sequence }: ParametersOf<{ sequence: number }>, dialect) =>
  db
    .selectFrom("events")
    .select(["sequence", "created_at as createdAt", transactionId(dialect).as("transactionId")])
    .where("sequence", ">=", sequence)
    .orderBy("sequence")
    .limit(sql.lit(1)),
);

interface IdSearch {
  /** Who searches. */
  readonly tenantId: string;
  readonly id: string;
  readonly from: number;
  readonly until: number;
}

const selectNear = defineQuery(
  [eventsTable],
  (db, { id, from, until }: ParametersOf<IdSearch>, dialect) =>
    db
      .selectFrom("events")
      .select(["sequence", "tenant_no as tenantId", "resource", "kind", "row_id as rowId"])
      .select("created_at as createdAt")
      .select(transactionId(dialect).as("transactionId"))
      .where("sequence", ">=", from)
      .where("sequence", "<=", until)
      .where("id", "=", id)
      .limit(sql.lit(1)),
  // An unknown id costs the widest scan, so that searches wait in the queue of their tenant.
  { mayScan: true, tenantOf: ({ tenantId }: IdSearch) => tenantId },
);

/** A position before all events that were recorded at a time or later. @param time milliseconds since 1970 */
export async function positionBefore(store: Store, time: number): Promise<Position> {
  return (await lastBefore(store, time - toleranceMs)) ?? completePosition(store);
}

/**
 * A position after all complete events that were recorded at a time or earlier. It is complete, too: no event will be
 * added before it. @param time milliseconds since 1970
 */
export async function positionAfter(store: Store, time: number): Promise<Position> {
  const complete = await presentPosition(store);
  const last = await lastBefore(store, time + toleranceMs);
  return last ? Position.earliest(complete, last) : complete;
}

/** The position before the first event at about a time or later; undefined if all events are earlier. */
async function lastBefore(store: Store, time: number): Promise<Position | undefined> {
  const found = await firstAt(store, time);
  if (!found) return undefined;
  const { transactionId: transaction, sequence } = positionOf(found);
  return transaction === 0 ? new Position(0, sequence - 1) : Position.before(transaction);
}

/** The event of a tenant with this id, without its row. @param id a valid id */
export async function findEvent(store: Store, tenantId: string, id: string) {
  const time = timeOfId(id);
  const newest = (await selectNewest(store).first(store.database))?.sequence ?? 0;
  const sequenceAt = async (at: number) => (await firstAt(store, at))?.sequence ?? newest;
  const expected = await sequenceAt(time);
  const near = (from: number, until: number) =>
    selectNear(store).first(store.database, { tenantId, id, from, until });
  let found: Awaited<ReturnType<typeof near>>;
  for (const distance of inspected) found ??= await near(expected - distance, expected + distance);
  found ??= await near(
    Math.max(expected - maxInspected, await sequenceAt(time - idToleranceMs)),
    Math.min(expected + maxInspected, await sequenceAt(time + idToleranceMs)),
  );
  return found?.tenantId === tenantId ? found : undefined;
}

/** About the first event at a time or later: times do not grow strictly. Undefined if all events are earlier. */
async function firstAt(store: Store, time: number) {
  const newest = await selectNewest(store).first(store.database);
  let low = 0;
  let high = (newest?.sequence ?? 0) + 1;
  let found: Awaited<ReturnType<typeof at>>;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await at(store, middle);
    if (event && Date.parse(event.createdAt) < time) low = event.sequence + 1;
    else {
      found = event ?? found;
      high = middle;
    }
  }
  return found;
}

function at(store: Store, sequence: number) {
  return selectAt(store).first(store.database, { sequence });
}
