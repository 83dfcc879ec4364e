// Replaces the types that earlier versions stored with events by the current ones.

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { currentEventType } from "./event-type.ts";

/** Events that one transaction rewrites, and the pause after it, in which other writes can run. */
const batchSize = 2_000;
const pauseMs = 10;

interface SequenceRange {
  /** Sequence numbers; the first one is excluded. */
  readonly after: number;
  readonly until: number;
}

const selectNewest = defineQuery([eventsTable], (db) =>
  db.selectFrom("events").select(sql<number | null>`max(sequence)`.as("newest")),
);

/** The end of the next batch. */
const selectBatchEnd = defineQuery([eventsTable], (db, { after, until }: ParametersOf<SequenceRange>) =>
  db
    .selectFrom(
      db
        .selectFrom("events")
        .select("sequence")
        .where("sequence", ">", after)
        .where("sequence", "<=", until)
        .orderBy("sequence")
        .limit(sql.lit(batchSize))
        .as("batch"),
    )
    .select(sql<number | null>`max(sequence)`.as("end")),
);

const countTypes = defineQuery([eventsTable], (db, { after, until }: ParametersOf<SequenceRange>) =>
  db
    .selectFrom("events")
    .select(["kind", sql<number>`count(*)`.as("count")])
    .where("sequence", ">", after)
    .where("sequence", "<=", until)
    .groupBy("kind"),
);

const updateType = defineQuery(
  [eventsTable],
  (
    db,
    { after, until, stored, current }: ParametersOf<SequenceRange & { stored: string; current: string }>,
  ) =>
    db
      .updateTable("events")
      .set({ kind: current })
      .where("sequence", ">", after)
      .where("sequence", "<=", until)
      .where("kind", "=", stored),
);

export interface RewriteOptions {
  /** Counts the events and changes none. */
  readonly isDryRun?: boolean;
  /** Called after each batch. @param fraction of the table that is done, from 0 to 1 */
  readonly onProgress?: (fraction: number, rewritten: number) => void;
}

/**
 * Rewrites the events that exist now, batch by batch. After an interruption it can be repeated: events with current
 * types are skipped. Run it once no process of an earlier version uses the database: such a process would not recognize
 * the current types of events that it has yet to deliver.
 *
 * @returns how many events had an earlier type
 */
export async function rewriteEventTypes(
  store: Store,
  { isDryRun = false, onProgress }: RewriteOptions = {},
): Promise<number> {
  const newest = Number((await selectNewest(store).first(store.database))?.newest ?? 0);
  let rewritten = 0;
  for (let after = 0; after < newest; ) {
    const range = { after, until: newest };
    const end = Number((await selectBatchEnd(store).first(store.database, range))?.end ?? newest);
    rewritten += await rewriteBatch(store, { after, until: end }, isDryRun);
    after = end;
    onProgress?.(after / newest, rewritten);
    await sleep(pauseMs);
  }
  return rewritten;
}

function rewriteBatch(store: Store, range: SequenceRange, isDryRun: boolean): Promise<number> {
  return store.transaction(async (session) => {
    let rewritten = 0;
    for (const { kind: stored, count } of await countTypes(store).all(session, range)) {
      const current = currentEventType(stored);
      if (current === stored) continue;
      rewritten += Number(count);
      if (!isDryRun) await updateType(store).run(session, { ...range, stored, current });
    }
    return rewritten;
  });
}
