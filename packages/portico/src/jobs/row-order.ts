// Keeps the order of queued work for each row: the earliest pending piece of a row is due, and the others wait for it with
// `next_attempt_at` null. Their tables have the columns `tenant_no`, `row_key`, `event_transaction`, `event_sequence`,
// `status` and `next_attempt_at`, and one that names the queue.

import { sql } from "kysely";
import { compileManyRows, rowColumns, type WriteRows } from "../store/compile/many-rows.ts";
import type { Store } from "../store/store.ts";

/** Reads the rows, of a JSON list of keys, for which work is pending. */
type SelectPending = (rowKeys: string) => Promise<readonly { readonly rowKey: string }[]>;

/**
 * When new work is due, in a transaction that has locked its queue.
 *
 * @param rowKeys of the new work, in the order of its events
 * @returns for each of `rowKeys`, `dueAt`, or null if it waits for earlier work
 */
export async function dueTimes(
  rowKeys: readonly string[],
  selectPending: SelectPending,
  dueAt: string,
): Promise<readonly (string | null)[]> {
  const pending = await selectPending(JSON.stringify([...new Set(rowKeys)]));
  const waiting = new Set(pending.map(({ rowKey }) => rowKey));
  return rowKeys.map((rowKey) => {
    if (waiting.has(rowKey)) return null;
    waiting.add(rowKey);
    return dueAt;
  });
}

/** The statement that makes the next work of rows due, whose earlier work has ended. Its rows name the time as `at`. */
export function compileReleaseNext(store: Store, tableName: string, queueColumn: string): WriteRows {
  const table = sql.table(tableName);
  const queue = sql.ref(queueColumn);
  return compileManyRows(
    store,
    rowColumns({ tenant_no: "tenant", [queueColumn]: "text", row_key: "text", at: "timestamp" }),
    (rows) => sql`update ${table} set next_attempt_at = n.at from ${rows} as n
      where ${table}.tenant_no = n.tenant_no and ${table}.next_attempt_at is null
        and ${table}.id = (select w.id from ${table} as w
          where w.tenant_no = n.tenant_no and w.${queue} = n.${queue} and w.status = 'pending'
            and w.row_key = n.row_key
          order by w.event_transaction, w.event_sequence, w.id limit 1)`,
  );
}
