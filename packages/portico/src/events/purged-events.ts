// The retention of events. The position of the last purged event of each resource is kept, so that a subscriber that
// resumes before it learns that it has missed events.

import { type RawBuilder, sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import type { Store } from "../store/store.ts";
import type { TenantIdOf } from "../store/tenants.ts";
import { positionOf } from "./event-queries.ts";
import { Position } from "./position.ts";

/** Rows at the start of the table that are inspected: old events come first, apart from clock errors. */
const inspectedRows = 1_000;

/** The last purged event of each resource of a tenant. */
export const purgedEventsTable = ownTable(
  "purged_events",
  // An earlier version knew no transactions.
  { tenant_no: "tenant", resource: "text", sequence: "integer", transaction_id: "integer?" },
  { primaryKey: ["tenant_no", "resource"] },
);

/** The events of a resource of a tenant. */
export interface EventTopic {
  readonly tenantId: string;
  readonly resource: string;
}

/** What is known of a deleted event. */
interface EventKey {
  readonly tenant_no: number;
  readonly resource: string;
  readonly sequence: number;
  /** Absent on SQLite. */
  readonly transaction_id?: number;
}

interface LastPurged extends EventTopic {
  readonly sequence: number;
  readonly transactionId: number;
}

const upsertLast = defineQuery([purgedEventsTable], (db, last: ParametersOf<LastPurged>) =>
  db
    .insertInto("purged_events")
    .values({
      tenant_no: last.tenantId,
      resource: last.resource,
      sequence: last.sequence,
      transaction_id: last.transactionId,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_no", "resource"])
        .doUpdateSet(({ ref }) => ({
          sequence: ref("excluded.sequence"),
          transaction_id: ref("excluded.transaction_id"),
        }))
        .where(
          sql<boolean>`(coalesce(purged_events.transaction_id, 0), purged_events.sequence)
            < (excluded.transaction_id, excluded.sequence)`,
        ),
    ),
);

const selectLast = defineQuery([purgedEventsTable], (db, { tenantId, resource }: ParametersOf<EventTopic>) =>
  db
    .selectFrom("purged_events")
    .select(["sequence", sql<number>`coalesce(transaction_id, 0)`.as("transactionId")])
    .where("tenant_no", "=", tenantId)
    .where("resource", "=", resource),
);

/** Whether old events are still needed. @param event the alias of a table with the position of each */
export type NeededEvents = (event: string) => RawBuilder<boolean>;

/**
 * Deletes events after a number of days, except the newest, which shows the last sequence number, and those that are
 * needed.
 */
export function eventRetention(
  store: Store,
  days: number,
  areNeeded: readonly NeededEvents[],
): RetentionPolicy {
  const transactionId = store.database.isRemote ? sql`transaction_id` : sql`0 as transaction_id`;
  return {
    table: "events",
    retentionMs: days * dayMs,
    key: sql`sequence`,
    // There is no index on `created_at`, because every write would have to maintain it.
    selectExpired: (idColumn, before) => sql`select ${idColumn} from
      (select sequence, created_at, ${transactionId} from events order by sequence
        limit ${sql.lit(inspectedRows)}) as oldest
      where created_at < ${before} and sequence < (select max(sequence) from events)
        and not (${sql.join(
          areNeeded.map((each) => sql`(${each("oldest")})`),
          sql` or `,
        )}) order by sequence`,
    encode: (time) => new Date(time).toISOString(),
    returning: ["tenant_no", "resource", "sequence", ...(store.database.isRemote ? ["transaction_id"] : [])],
    async onDeleted(session, rows: readonly EventKey[]) {
      const numbers = rows.map(({ tenant_no }) => tenant_no);
      const tenantIdOf = await store.tenants.findIds(store.database, numbers);
      for (const last of lastOfEach(rows, tenantIdOf)) await upsertLast(store).run(session, last);
    },
  };
}

/** Sorted, so that two processes that purge at the same time cannot deadlock. */
function lastOfEach(events: readonly EventKey[], tenantIdOf: TenantIdOf): LastPurged[] {
  const last = new Map<string, LastPurged>();
  for (const { tenant_no: tenantNo, resource, sequence, transaction_id: transactionId = 0 } of events) {
    const tenantId = tenantIdOf(tenantNo);
    const topic = `${tenantId} ${resource}`;
    const purged = { tenantId, resource, sequence, transactionId };
    const known = last.get(topic);
    if (!known || positionOf(purged).isAfter(positionOf(known))) last.set(topic, purged);
  }
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

export class PurgedEvents {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The position of the last purged event of a topic; the start if none was purged. */
  async last(topic: EventTopic): Promise<Position> {
    const purged = await selectLast(this.#store).first(this.#store.database, topic);
    return purged ? positionOf(purged) : Position.start;
  }
}
