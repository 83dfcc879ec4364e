// Writes many deliveries and attempts: on PostgreSQL with one statement each.

import { sql } from "kysely";
import { compileReleaseNext, dueTimes } from "../jobs/row-order.ts";
import { newId } from "../lib/id.ts";
import type { ColumnRow, WriteRows } from "../store/compile/many-rows.ts";
import { compileInsertRows, compileManyRows, rowColumns } from "../store/compile/many-rows.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { attemptsTable } from "./delivery.ts";
import { type NewDelivery, selectPendingRows } from "./delivery-queries.ts";
import type { OfEndpoint } from "./endpoint-queue.ts";
import type { Finished } from "./queue-record.ts";

const table = "webhook_deliveries";

const newColumns = rowColumns({
  ...{ tenant_no: "tenant", id: "text", endpoint_id: "text", event_id: "text", event_type: "text" },
  ...{ status: "text", attempts: "integer", next_attempt_at: "timestamp", row_key: "text" },
  ...{ event_transaction: "integer", event_sequence: "integer", payload: "text" },
  ...{ created_at: "timestamp", updated_at: "timestamp" },
});

const outcomeColumns = rowColumns({
  ...{ tenant_no: "tenant", id: "text", status: "text", attempts: "integer", next_attempt_at: "timestamp" },
  ...{ last_status: "integer", last_error: "text", duration_ms: "integer", updated_at: "timestamp" },
});

interface Writes {
  readonly insert: WriteRows;
  readonly update: WriteRows;
  readonly insertAttempts: WriteRows;
  /** Makes the next delivery of a row due, whose earlier one has ended. */
  readonly releaseNext: WriteRows;
}

const compiled = new WeakMap<Store, Writes>();

function writesOf(store: Store): Writes {
  const known = compiled.get(store);
  if (known) return known;
  const outcome = outcomeColumns.slice(2).map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(`n.${name}`)}`);
  const writes = {
    insert: compileInsertRows(store, table, newColumns),
    update: compileManyRows(
      store,
      outcomeColumns,
      (rows) => sql`update webhook_deliveries set ${sql.join(outcome)} from ${rows} as n
        where webhook_deliveries.tenant_no = n.tenant_no and webhook_deliveries.id = n.id`,
    ),
    insertAttempts: compileInsertRows(store, attemptsTable.name, attemptsTable.columns),
    releaseNext: compileReleaseNext(store, table, "endpoint_id"),
  };
  compiled.set(store, writes);
  return writes;
}

/**
 * Adds deliveries of an endpoint, in their order, in a transaction that has locked its queue. The first pending delivery
 * of each row is due; the others wait for it.
 * @returns their ids
 */
export async function insertDeliveries(
  store: Store,
  session: Session,
  { tenantId, endpointId }: OfEndpoint,
  deliveries: readonly NewDelivery[],
  { now, dueAt }: { readonly now: string; readonly dueAt: string },
): Promise<readonly string[]> {
  const keys = deliveries.map(({ rowKey }) => rowKey);
  const selectPending = (rowKeys: string) =>
    selectPendingRows(store).all(session, { tenantId, endpointId, rowKeys });
  const due = await dueTimes(keys, selectPending, dueAt);
  const rows = deliveries.map((delivery, index) => {
    const { eventId, eventType, rowKey, eventTransaction, eventSequence, payload } = delivery;
    return {
      ...{ tenant_no: tenantId, id: newId("webhook_delivery"), endpoint_id: endpointId, event_id: eventId },
      ...{ event_type: eventType, status: "pending", attempts: 0, next_attempt_at: due[index]! },
      ...{ row_key: rowKey, event_transaction: eventTransaction, event_sequence: eventSequence, payload },
      ...{ created_at: now, updated_at: now },
    };
  });
  await writesOf(store).insert(session, rows);
  return rows.map(({ id }) => id);
}

/** Writes the outcomes of deliveries of an endpoint, with their attempts, in a transaction that has locked its queue. */
export async function writeOutcomes(
  store: Store,
  session: Session,
  { tenantId, endpointId }: OfEndpoint,
  finished: readonly Finished[],
): Promise<void> {
  if (finished.length === 0) return;
  const { update, insertAttempts, releaseNext } = writesOf(store);
  const attempts: ColumnRow[] = [];
  const ended = new Map<string, ColumnRow>();
  const outcomes = finished.map(({ delivery, at, status, nextAttemptAt, error, attempt }) => {
    const { id, rowKey } = delivery;
    const number = delivery.attempts + (attempt ? 1 : 0);
    if (status !== "pending")
      ended.set(rowKey, { tenant_no: tenantId, endpoint_id: endpointId, row_key: rowKey, at });
    if (attempt)
      attempts.push({
        ...{ tenant_no: tenantId, delivery_id: id, number, created_at: attempt.at, status: attempt.status },
        ...{ duration_ms: attempt.durationMs, error: attempt.error, response: attempt.response },
      });
    return {
      ...{ tenant_no: tenantId, id, status, attempts: number, next_attempt_at: nextAttemptAt },
      ...{ last_status: attempt?.status ?? null, last_error: error },
      ...{ duration_ms: attempt?.durationMs ?? null, updated_at: at },
    };
  });
  await update(session, outcomes);
  if (attempts.length > 0) await insertAttempts(session, attempts);
  if (ended.size > 0) await releaseNext(session, [...ended.values()]);
}
