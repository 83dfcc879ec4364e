// Reads single events again, for work that was queued for them.

import { sql } from "kysely";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { eventColumns, storedEventOf, transactionId } from "./event-queries.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { StoredNames } from "./stored-names.ts";

/** `sequences`: a JSON list */
const selectBySequence = defineQuery(
  [eventsTable],
  (db, { sequences }: ParametersOf<{ sequences: string }>, dialect) =>
    db
      .selectFrom("events")
      .select([...eventColumns, "row", "deleted_parents as deletedParents"])
      .select(transactionId(dialect).as("transactionId"))
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
