// When each key was used last, and how often: counts by minute, route and class of status. Requests are counted in
// memory; `store/write-behind.ts` writes.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import { compileInsertRows, compileManyRows } from "../store/many-rows.ts";
import { dayMs, type Expiry } from "../store/purge.ts";
import type { Report } from "../store/report.ts";
import type { Column, Table } from "../store/schema.ts";
import type { Store } from "../store/store.ts";
import { Tally } from "../store/tally.ts";
import type { Gathering } from "../store/write-behind.ts";

/** A request that was answered; without a caller who showed a key it used none. */
export interface Use {
  readonly caller: Caller | undefined;
  /** The pattern of its path, `/posts/:id`. */
  readonly route: string | undefined;
  readonly status: number;
}

const column = (name: string, type: Column["type"]): Column => ({
  name,
  type,
  isNullable: false,
  fill: undefined,
  from: "key_usage",
});

/** `minute` counts the minutes since 1970; `status_class` is the first digit of a status. */
export const keyUsageTable: Table = {
  name: "key_usage",
  columns: [
    column("tenant_id", "text"),
    column("key_id", "text"),
    column("minute", "integer"),
    column("route", "text"),
    column("status_class", "integer"),
    column("count", "integer"),
  ],
  primaryKey: ["tenant_id", "key_id", "minute", "route", "status_class"],
  indexes: [
    { name: "portico_key_usage_minute", columns: [{ name: "minute", isNullable: false }], isUnique: false },
  ],
  foreignKeys: [],
  search: undefined,
};

const lastUseColumns = [column("tenant_id", "text"), column("id", "text"), column("used_at", "timestamp")];

/** Counts that are older than so many days. */
export function usageExpiry(days: number): Expiry {
  return {
    table: keyUsageTable.name,
    keptMs: days * dayMs,
    over: (place, before) => sql`select ${place} from key_usage where minute < ${before}`,
    encode: minuteOf,
  };
}

/** The minute in which a moment lies. */
export function minuteOf(at: number): number {
  return Math.floor(at / 60_000);
}

interface Counter {
  readonly tenantId: string;
  readonly keyId: string;
  readonly minute: number;
  readonly route: string;
  readonly statusClass: number;
  count: number;
}

interface LastUse {
  readonly tenantId: string;
  readonly keyId: string;
  at: number;
}

/** Whether two uses count for the same; those that come in a row are counted at once. */
function isAlike(one: Use, other: Use): boolean {
  return one.caller === other.caller && one.route === other.route && one.status === other.status;
}

/** Counts the uses of keys. */
export class KeyUses {
  readonly #counters: Tally<Counter>;
  readonly #lastUses: Tally<LastUse>;
  readonly #report: Report;

  /** @param report is told of uses that there was no room to count */
  constructor({ dialect }: Store, report: Report) {
    this.#report = report;
    this.#counters = new Tally({
      merge: (known, { count }) => {
        known.count += count;
      },
      rowOf: ({ tenantId, keyId, minute, route, statusClass, count }) => {
        return { tenant_id: tenantId, key_id: keyId, minute, route, status_class: statusClass, count };
      },
      write: compileInsertRows(
        dialect,
        keyUsageTable.name,
        keyUsageTable.columns,
        sql`on conflict (${sql.join(keyUsageTable.primaryKey.map((name) => sql.ref(name)))})
          do update set count = key_usage.count + excluded.count`,
      ),
    });
    this.#lastUses = new Tally({
      merge: (known, { at }) => {
        known.at = Math.max(known.at, at);
      },
      rowOf: ({ tenantId, keyId, at }) => {
        return { tenant_id: tenantId, id: keyId, used_at: new Date(at).toISOString() };
      },
      // Neither a change that anybody made nor an event: `updatedAt` stays.
      write: compileManyRows(
        dialect,
        lastUseColumns,
        (rows) => sql`update api_keys set last_used_at = n.used_at from ${rows} as n
          where api_keys.tenant_id = n.tenant_id and api_keys.id = n.id
            and (api_keys.last_used_at is null or api_keys.last_used_at < n.used_at)`,
      ),
    });
  }

  /** What `WriteBehind` writes. */
  get gatherings(): readonly Gathering[] {
    return [this.#lastUses, this.#counters];
  }

  /** @param at when they were answered, in milliseconds since 1970 */
  add(uses: readonly Use[], at: number): void {
    let start = 0;
    for (let place = 1; place <= uses.length; place += 1) {
      if (place < uses.length && isAlike(uses[place]!, uses[start]!)) continue;
      this.#add(uses[start]!, place - start, at);
      start = place;
    }
    this.#tellRefused();
  }

  #add({ caller, route, status }: Use, count: number, at: number): void {
    if (caller?.keyId === undefined || route === undefined) return;
    const { tenantId, keyId } = caller;
    const minute = minuteOf(at);
    const statusClass = Math.floor(status / 100);
    const name = `${keyId} ${minute} ${statusClass} ${route}`;
    this.#counters.add(name, { tenantId, keyId, minute, route, statusClass, count });
    this.#lastUses.add(keyId, { tenantId, keyId, at });
  }

  #tellRefused(): void {
    const { refused } = this.#counters;
    if (refused === 0) return;
    this.#counters.refused = 0;
    this.#report("more different keys and routes were used than there is room to count", { refused });
  }
}
