// Which handlers there are, in the processes of all versions that run: the process that queues calls need not be one that
// can make them.

import { sql } from "kysely";
import { Position } from "../events/position.ts";
import type { Session } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { deleteQueues } from "./handler-queue.ts";
import { abandonJobs } from "./job-queries.ts";
import { handlersTable } from "./tables.ts";

/** How long no process has declared a handler before its calls are set aside: longer than versions are exchanged. */
export const forgetAfterMs = 60 * 60 * 1_000;

interface Declared {
  readonly name: string;
  readonly transaction: number;
  readonly sequence: number;
  readonly now: string;
}

const upsert = defineQuery([handlersTable], (db, input: ParametersOf<Declared>) =>
  db
    .insertInto("event_handlers")
    .values({
      name: input.name,
      start_transaction: input.transaction,
      start_sequence: input.sequence,
      seen_at: input.now,
    })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet(({ ref }) => ({ seen_at: ref("excluded.seen_at") })),
    ),
);

const selectAll = defineQuery([handlersTable], (db) =>
  db
    .selectFrom("event_handlers")
    .select(["name", "start_transaction as transaction", "start_sequence as sequence"]),
);

const selectUnseen = defineQuery([handlersTable], (db, { before }: ParametersOf<{ before: string }>) =>
  db.selectFrom("event_handlers").select("name").where("seen_at", "<", before),
);

const deleteUnseen = defineQuery(
  [handlersTable],
  (db, { name, before }: ParametersOf<{ name: string; before: string }>) =>
    db
      .deleteFrom("event_handlers")
      .where("name", "=", name)
      .where("seen_at", "<", before)
      .returning(sql<number>`1`.as("deleted")),
);

export interface RegisteredHandler {
  readonly name: string;
  /** It gets the events after this one. */
  readonly start: Position;
}

/**
 * Registers the handlers of this process, or says that they are still declared.
 * @param present where handlers begin that were not registered
 */
export async function registerHandlers(
  store: Store,
  names: readonly string[],
  present: Position,
): Promise<void> {
  if (names.length === 0) return;
  const now = new Date().toISOString();
  const { transactionId: transaction, sequence } = present;
  await store.transaction(async (session) => {
    // Sorted, so that two processes cannot deadlock.
    for (const name of names.toSorted())
      await upsert(store).run(session, { name, transaction, sequence, now });
  });
}

export async function registeredHandlers(
  store: Store,
  session: Session,
): Promise<readonly RegisteredHandler[]> {
  const rows = await selectAll(store).all(session);
  return rows.map(({ name, transaction, sequence }) => ({
    name,
    start: new Position(transaction, sequence),
  }));
}

/**
 * Forgets the handlers that no process has declared for a time, and sets their pending calls aside. One that is declared
 * again starts over.
 */
export async function forgetUnseen(store: Store, now: number = Date.now()): Promise<readonly string[]> {
  const before = new Date(now - forgetAfterMs).toISOString();
  const forgotten: string[] = [];
  for (const { name } of await selectUnseen(store).all(store.database, { before }))
    await store.transaction(async (session) => {
      if (!(await deleteUnseen(store).first(session, { name, before }))) return;
      await deleteQueues(store).run(session, { handler: name });
      const at = new Date(now).toISOString();
      await abandonJobs(store).run(session, {
        handler: name,
        now: at,
        error: "The handler is no longer declared.",
      });
      forgotten.push(name);
    });
  return forgotten;
}
