// How far events are complete on PostgreSQL. A transaction has a number from its first write on. Once every transaction
// before a number has ended, its events are visible or will never exist.
//
// `pg_snapshot_xmin` counts the transactions of all databases of the server, but those of other databases write no events
// here. They must not delay events, so they are looked up when events have waited for a while. Only a transaction that is
// known to belong to another database is left out: one that cannot be identified is waited for.

import { setTimeout as sleep } from "node:timers/promises";
import type { Statement } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { selectNewest } from "./event-queries.ts";
import { Position } from "./position.ts";

/** `xmin:xmax:xip,xip`, with numbers of 64 bits */
const selectSnapshot: Statement<undefined> = {
  sql: "select pg_current_snapshot()::text",
  bind: () => [],
};

/**
 * The transactions of other databases, by the lower 32 bits of their numbers. If a process ends and its id is used again
 * between the reading of both views, its transaction has ended, so leaving it out is harmless.
 */
const selectForeign: Statement<undefined> = {
  sql: `select l.transactionid::text from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
      and a.datid <> (select oid from pg_database where datname = current_database())
    union all
    select transaction::text from pg_prepared_xacts where database <> current_database()`,
  bind: () => [],
};

/** The process that holds a transaction open, for a warning. */
const selectOwner: Statement<string> = {
  sql: `select a.pid, a.application_name from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and l.transactionid::text = $1`,
  bind: (transaction) => [transaction],
};

const modulus = 2n ** 32n;

/**
 * The lowest transaction of this database that may still be in progress. The answer holds for statements that start after
 * it was given: they see all events of earlier transactions.
 */
export async function horizonOf({ database }: Pick<Store, "database">): Promise<number> {
  const [snapshot] = await database.query(selectSnapshot, undefined);
  const [, xmax = "", inProgress = ""] = String(snapshot![0]).split(":");
  if (inProgress === "") return Number(xmax);
  // After the snapshot: what is missing here belongs to this database, or has ended and is visible to the statement that
  // reads events next.
  const foreign = new Set((await database.query(selectForeign, undefined)).map(([id]) => String(id)));
  const own = inProgress.split(",").find((id) => !foreign.has(lower32(id)));
  return Number(own ?? xmax);
}

/** How long a reader waits for the transactions that were in progress when it began, and how often it asks at least. */
const maxWaitMs = 100;
const minAttempts = 3;
const waitIntervalMs = 5;

/**
 * The same as `completePosition`, after the transactions that are in progress now: a caller that has just
 * written finds its event, although writes that began earlier are still running. If they take long, it does not wait for
 * them.
 */
export async function presentPosition(store: Store): Promise<Position> {
  if (!store.database.isRemote) return completePosition(store);
  const next = await nextTransactionOf(store);
  const until = performance.now() + maxWaitMs;
  for (let attempts = 1; ; attempts++) {
    const horizon = await horizonOf(store);
    const isLate = attempts >= minAttempts && performance.now() > until;
    if (horizon >= next || isLate) return Position.before(horizon);
    await sleep(waitIntervalMs);
  }
}

/** The position up to which events are complete: none will be added before it. */
export async function completePosition(store: Store): Promise<Position> {
  if (store.database.isRemote) return Position.before(await horizonOf(store));
  const newest = await selectNewest(store).first(store.database);
  return new Position(0, newest?.sequence ?? 0);
}

/** The number of a transaction that has not begun. Numbers from this one on do not occur. */
export async function nextTransactionOf({ database }: Pick<Store, "database">): Promise<number> {
  const [snapshot] = await database.query(selectSnapshot, undefined);
  return Number(String(snapshot![0]).split(":")[1]);
}

/**
 * Gives the events that were restored from a dump no transaction, as those of an earlier version: the numbers of another
 * server would sort after the events that are written now.
 */
export async function forgetRestoredTransactions({ database }: Pick<Store, "database">): Promise<void> {
  if (!database.isRemote) return;
  const next = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
  await database.maintain(async (session) => {
    for (const table of ["events", "purged_events"])
      await session.run(`update ${table} set transaction_id = 0 where transaction_id >= ${next}`);
  });
}

/** Who keeps a transaction of this database open. */
export async function ownerOf(
  { database }: Pick<Store, "database">,
  transactionId: number,
): Promise<{ readonly pid?: number; readonly application?: string }> {
  const [row] = await database.query(selectOwner, lower32(String(transactionId)));
  return row ? { pid: Number(row[0]), application: String(row[1]) } : {};
}

function lower32(id: string): string {
  return String(BigInt(id) % modulus);
}
