// The order of two writes, where one has read the database before the other changes it.

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import type { TestServer } from "./scenario.ts";

/**
 * Makes a change commit after a request has read the database, and before the request writes: a lock holds its
 * transaction back. On PostgreSQL the lock is on the records of the authorization server, which the request writes first
 * and the change does not write.
 */
export async function changeDuringRequest<Change, Response>(
  { workspace: { databaseUrl } }: TestServer,
  change: () => Promise<Change>,
  request: () => Promise<Response>,
): Promise<[Change, Response]> {
  if (databaseUrl.startsWith("file:")) {
    const other = new DatabaseSync(fileURLToPath(databaseUrl));
    // All writes wait, in the order in which they arrive.
    other.exec("begin immediate");
    const changing = change();
    await sleep(150);
    const requesting = request();
    await sleep(150);
    other.exec("rollback");
    other.close();
    return Promise.all([changing, requesting]);
  }
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} });
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const locking = sql.begin(async (transaction) => {
    await transaction.unsafe("lock table oauth_records in exclusive mode");
    locked.resolve();
    await released.promise;
  });
  try {
    await locked.promise;
    const requesting = request();
    const waiting = "select 1 from pg_locks where not granted and relation = 'oauth_records'::regclass";
    while ((await sql.unsafe(waiting)).length === 0) await sleep(10);
    const changed = await change();
    released.resolve();
    return [changed, await requesting];
  } finally {
    released.resolve();
    await locking;
    await sql.end();
  }
}
