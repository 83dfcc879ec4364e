// Reads single events again, for work that was queued for them.

import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "../store/dialect.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { eventColumns, storedEventOf, transactionId } from "./event-queries.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { StoredNames } from "./stored-names.ts";

/** The elements of a JSON list of sequence numbers. */
const listed = ({ name }: Dialect, sequences: RawBuilder<string>): RawBuilder<number> =>
  name === "sqlite"
    ? sql<number>`(select value from json_each(${sequences}))`
    : sql<number>`(select value::bigint from json_array_elements_text(${sequences}::json))`;

const selectSizes = defineQuery(
  [eventsTable],
  (db, { sequences }: ParametersOf<{ sequences: string }>, dialect) =>
    db
      .selectFrom("events")
      .select(["sequence", sql<number>`octet_length(cast("row" as text))`.as("bytes")])
      .where("sequence", "in", listed(dialect, sequences)),
);

/** The sizes of the rows of events in bytes, by sequence number. Those that were purged are missing. */
export async function findEventSizes(
  store: Store,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await selectSizes(store).all(store.database, { sequences: JSON.stringify(sequences) });
  return new Map(rows.map(({ sequence, bytes }) => [sequence, bytes]));
}

/** An event with the credential whose write it is. */
export interface AuthoredEvent extends RecordedEvent {
  readonly credentialId: string;
}

/** `sequences`: a JSON list */
const selectBySequence = defineQuery(
  [eventsTable],
  (db, { sequences }: ParametersOf<{ sequences: string }>, dialect) =>
    db
      .selectFrom("events")
      .select([...eventColumns, "row", "deleted_parents as deletedParents"])
      .select([transactionId(dialect).as("transactionId"), "credential_id as credentialId"])
      .where("sequence", "in", listed(dialect, sequences)),
);

/** The events with these sequence numbers, by number, with current names. Those that were purged are missing. */
export async function findEvents(
  store: Store,
  names: StoredNames,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, AuthoredEvent>> {
  if (sequences.length === 0) return new Map();
  const input = { sequences: JSON.stringify(sequences) };
  const rows = await selectBySequence(store).all(store.database, input);
  return new Map(
    rows.map(({ credentialId, ...row }) => [
      row.sequence,
      { ...names.currentEvent(storedEventOf(row)), credentialId },
    ]),
  );
}
