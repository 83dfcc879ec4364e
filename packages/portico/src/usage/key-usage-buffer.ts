// Counts the requests of each key by minute, route and status class, and records its last use. Counters are in memory
// until `jobs/write-behind.ts` writes them.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import { CounterBuffer } from "../jobs/counter-buffer.ts";
import type { WriteBuffer } from "../jobs/write-behind.ts";
import type { Report } from "../lib/report.ts";
import { compileInsertRows, compileManyRows } from "../store/compile/many-rows.ts";
import type { Store } from "../store/store.ts";
import { keyUsageTable, minuteOf } from "./tables.ts";

/** A finished request. It counts only if the caller used a key. */
export interface KeyUse {
  readonly caller: Caller | undefined;
  /** The pattern of the path: `/posts/:id` */
  readonly route: string | undefined;
  readonly status: number;
}

const lastUseColumns = [
  { name: "tenant_no", type: "tenant" },
  { name: "id", type: "text" },
  { name: "used_at", type: "timestamp" },
] as const;

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

/** Whether two uses have the same counter. Consecutive ones are added together. */
function isSameUse(one: KeyUse, other: KeyUse): boolean {
  return one.caller === other.caller && one.route === other.route && one.status === other.status;
}

export class KeyUsageBuffer {
  readonly #counters: CounterBuffer<Counter>;
  readonly #lastUses: CounterBuffer<LastUse>;
  readonly #report: Report;

  /** @param report called when uses could not be counted because the buffer was full */
  constructor(store: Store, report: Report) {
    this.#report = report;
    this.#counters = new CounterBuffer({
      merge: (total, { count }) => {
        total.count += count;
      },
      rowOf: ({ tenantId, keyId, minute, route, statusClass, count }) => {
        return { tenant_no: tenantId, key_id: keyId, minute, route, status_class: statusClass, count };
      },
      write: compileInsertRows(
        store,
        keyUsageTable.name,
        keyUsageTable.columns,
        sql`on conflict (${sql.join(keyUsageTable.primaryKey.map((name) => sql.ref(name)))})
          do update set count = key_usage.count + excluded.count`,
      ),
    });
    this.#lastUses = new CounterBuffer({
      merge: (last, { at }) => {
        last.at = Math.max(last.at, at);
      },
      rowOf: ({ tenantId, keyId, at }) => {
        return { tenant_no: tenantId, id: keyId, used_at: new Date(at).toISOString() };
      },
      // A use is not a change of the key, so `updated_at` stays and there is no event.
      write: compileManyRows(
        store,
        lastUseColumns,
        (rows) => sql`update api_keys set last_used_at = n.used_at from ${rows} as n
          where api_keys.tenant_no = n.tenant_no and api_keys.id = n.id
            and (api_keys.last_used_at is null or api_keys.last_used_at < n.used_at)`,
      ),
    });
  }

  /** The buffers for `WriteBehind`. */
  get buffers(): readonly WriteBuffer[] {
    return [this.#lastUses, this.#counters];
  }

  /** @param at when the responses were sent, in milliseconds since 1970 */
  add(uses: readonly KeyUse[], at: number): void {
    let start = 0;
    for (let index = 1; index <= uses.length; index += 1) {
      if (index < uses.length && isSameUse(uses[index]!, uses[start]!)) continue;
      this.#add(uses[start]!, index - start, at);
      start = index;
    }
    this.#reportDropped();
  }

  #add({ caller, route, status }: KeyUse, count: number, at: number): void {
    if (caller?.keyId === undefined || route === undefined) return;
    const { tenantId, keyId } = caller;
    const minute = minuteOf(at);
    const statusClass = Math.floor(status / 100);
    const name = `${keyId} ${minute} ${statusClass} ${route}`;
    this.#counters.add(name, { tenantId, keyId, minute, route, statusClass, count });
    this.#lastUses.add(keyId, { tenantId, keyId, at });
  }

  #reportDropped(): void {
    const { dropped } = this.#counters;
    if (dropped === 0) return;
    this.#counters.dropped = 0;
    this.#report("the buffer of key usage is full: uses of further keys and routes are not counted", {
      dropped,
    });
  }
}
