// The retention of events. The number of the last purged event of each resource is kept, so that a subscriber that
// resumes before it learns that it has missed events.

import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import type { Store } from "../store/store.ts";
import type { TenantIdOf } from "../store/tenants.ts";

/** Rows at the start of the table that are inspected: old events come first, apart from clock errors. */
const inspectedRows = 1_000;

/** The last purged event of each resource of a tenant. */
export const purgedEventsTable = ownTable(
  "purged_events",
  { tenant_no: "tenant", resource: "text", sequence: "integer" },
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
}

interface LastPurged extends EventTopic {
  readonly sequence: number;
}

const upsertLast = defineQuery([purgedEventsTable], (db, last: ParametersOf<LastPurged>) =>
  db
    .insertInto("purged_events")
    .values({ tenant_no: last.tenantId, resource: last.resource, sequence: last.sequence })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_no", "resource"])
        .doUpdateSet(({ ref }) => ({ sequence: ref("excluded.sequence") }))
        .whereRef("purged_events.sequence", "<", "excluded.sequence"),
    ),
);

const selectLast = defineQuery([purgedEventsTable], (db, { tenantId, resource }: ParametersOf<EventTopic>) =>
  db
    .selectFrom("purged_events")
    .select("sequence")
    .where("tenant_no", "=", tenantId)
    .where("resource", "=", resource),
);

/** Deletes events after a number of days, except the newest: it shows the last sequence number. */
export function eventRetention(store: Store, days: number): RetentionPolicy {
  return {
    table: "events",
    retentionMs: days * dayMs,
    key: sql`sequence`,
    // There is no index on `created_at`, because every write would have to maintain it.
    selectExpired: (idColumn, before) => sql`select ${idColumn} from
      (select sequence, created_at from events order by sequence limit ${sql.lit(inspectedRows)}) as oldest
      where created_at < ${before} and sequence < (select max(sequence) from events) order by sequence`,
    encode: (time) => new Date(time).toISOString(),
    returning: ["tenant_no", "resource", "sequence"],
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
  for (const { tenant_no: tenantNo, resource, sequence } of events) {
    const tenantId = tenantIdOf(tenantNo);
    const topic = `${tenantId} ${resource}`;
    if (sequence > (last.get(topic)?.sequence ?? 0)) last.set(topic, { tenantId, resource, sequence });
  }
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

export class PurgedEvents {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The number of the last purged event of a topic; 0 if none was purged. */
  async last(topic: EventTopic): Promise<number> {
    return (await selectLast(this.#store).first(this.#store.database, topic))?.sequence ?? 0;
  }
}
