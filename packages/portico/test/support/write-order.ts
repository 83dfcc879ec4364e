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
 *
 * @param deletedUser the user whom the change deletes, which writes these records too: on PostgreSQL both then wait for the
 *   row of the user, and either may come first
 */
export async function changeDuringRequest<Change, Response>(
  { workspace: { databaseUrl } }: TestServer,
  change: () => Promise<Change>,
  request: () => Promise<Response>,
  deletedUser?: string,
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
  const waiting = async (count: number): Promise<void> => {
    const locks =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while ((await sql.unsafe(locks)).length < count) await sleep(10);
  };
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const locking = sql.begin(async (transaction) => {
    if (deletedUser !== undefined)
      await transaction`select 1 from users where id = ${deletedUser} for update`;
    else await transaction.unsafe("lock table oauth_records in exclusive mode");
    locked.resolve();
    await released.promise;
  });
  try {
    await locked.promise;
    if (deletedUser !== undefined) {
      const changing = change();
      await waiting(1);
      const requesting = request();
      await waiting(2);
      released.resolve();
      return await Promise.all([changing, requesting]);
    }
    const requesting = request();
    await waiting(1);
    const changed = await change();
    released.resolve();
    return [changed, await requesting];
  } finally {
    released.resolve();
    await locking;
    await sql.end();
  }
}
