// Events are kept for some days. What is left of those that were removed is how far they went, so that nobody who
// resumes behind them believes to have missed nothing.

import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import type { ColumnValues, Statement } from "../store/database.ts";
import type { Column, Table } from "../store/schema/ddl.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";

/** Rows at the beginning of the table that are looked at: old events come first, give or take a clock that was wrong. */
const inspectedRows = 1_000;

const column = (name: string, type: Column["type"]): Column => ({
  name,
  type,
  isNullable: false,
  defaultValue: undefined,
  from: "purged_events",
});

/** For each resource of a tenant the last event that was removed. */
export const purgedEventsTable: Table = {
  name: "purged_events",
  columns: [column("tenant_id", "text"), column("resource", "text"), column("sequence", "integer")],
  primaryKey: ["tenant_id", "resource"],
  indexes: [],
  foreignKeys: [],
  search: undefined,
};

/** The events of a resource of a tenant. */
export interface EventTopic {
  readonly tenantId: string;
  readonly resource: string;
}

interface LastPurged extends EventTopic {
  readonly sequence: number;
}

/** Events that are older than so many days, but for the newest: it tells what was the last. */
export function eventRetention({ dialect }: Store, days: number): RetentionPolicy {
  const keep = compile(
    dialect.builder,
    sql`insert into purged_events (tenant_id, resource, sequence) values (${parameter(({ tenantId }: LastPurged) => tenantId)},
      ${parameter(({ resource }: LastPurged) => resource)}, ${parameter(({ sequence }: LastPurged) => sequence)})
      on conflict (tenant_id, resource) do update set sequence = excluded.sequence
      where purged_events.sequence < excluded.sequence`,
  );
  return {
    table: "events",
    retentionMs: days * dayMs,
    key: sql`sequence`,
    // There is no index for their time: it would cost each write more than it is worth.
    selectExpired: (idColumn, before) => sql`select ${idColumn} from
      (select sequence, created_at from events order by sequence limit ${sql.lit(inspectedRows)}) as oldest
      where created_at < ${before} and sequence < (select max(sequence) from events) order by sequence`,
    encode: (time) => new Date(time).toISOString(),
    returning: sql`tenant_id, resource, sequence`,
    async onDeleted(session, rows) {
      for (const last of lastOfEach(rows)) await session.query(keep, last);
    },
  };
}

/** In an order, so that two processes that remove at the same time do not wait for each other. */
function lastOfEach(rows: readonly ColumnValues[]): LastPurged[] {
  const last = new Map<string, LastPurged>();
  for (const [tenantId, resource, sequence] of rows as readonly [string, string, unknown][]) {
    const topic = `${tenantId} ${resource}`;
    const purged = { tenantId, resource, sequence: Number(sequence) };
    if (purged.sequence > (last.get(topic)?.sequence ?? 0)) last.set(topic, purged);
  }
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

export class PurgedEvents {
  readonly #store: Store;
  readonly #last: Statement<EventTopic>;

  constructor(store: Store) {
    this.#store = store;
    this.#last = compile(
      store.dialect.builder,
      sql`select sequence from purged_events where tenant_id = ${parameter(({ tenantId }: EventTopic) => tenantId)}
        and resource = ${parameter(({ resource }: EventTopic) => resource)}`,
    );
  }

  /** The last event of a topic that was removed; 0 where none was. */
  async last(topic: EventTopic): Promise<number> {
    const [row] = await this.#store.database.query(this.#last, topic);
    return Number(row?.[0] ?? 0);
  }
}
