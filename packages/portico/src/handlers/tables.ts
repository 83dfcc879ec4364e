// The tables of handlers: which there are, their queues, and the calls that are pending or have failed.

import { readerTable } from "../events/reader-table.ts";
import { ownTable } from "../store/own-tables/table.ts";

/** Where the process stands that queues calls. */
export const handlerReaderTable = readerTable("handler_reader");

/**
 * The handlers that processes declare. `start_*`: the last event before the handler was first declared. `seen_at`: when a
 * process that declares it last said so.
 */
export const handlersTable = ownTable(
  "event_handlers",
  { name: "text", start_transaction: "integer", start_sequence: "integer", seen_at: "timestamp" },
  { primaryKey: ["name"] },
);

/** The queue of each handler in each tenant: see `jobs/lease-queue.ts`. `id` is the name of the handler. */
export const handlerQueuesTable = ownTable(
  "handler_queues",
  {
    tenant_no: "tenant",
    id: "text",
    attempts: "integer",
    lease_id: "text?",
    next_attempt_at: "timestamp",
    updated_at: "timestamp",
  },
  { primaryKey: ["tenant_no", "id"], indexes: [{ columns: ["next_attempt_at"] }] },
);

/**
 * Calls of handlers, one for each event and handler. A call that succeeds is deleted. `status`: `pending`, or `failed` if it
 * was set aside. `next_attempt_at` is null while an earlier call for the same row is pending, and once it has failed.
 */
export const handlerJobsTable = ownTable(
  "handler_jobs",
  {
    tenant_no: "tenant",
    id: "text",
    handler: "text",
    event_id: "text",
    event_type: "text",
    row_key: "text",
    event_transaction: "integer",
    event_sequence: "integer",
    status: "text",
    attempts: "integer",
    next_attempt_at: "timestamp?",
    last_error: "text?",
    created_at: "timestamp",
    updated_at: "timestamp",
  },
  {
    primaryKey: ["tenant_no", "id"],
    indexes: [
      {
        name: "portico_handler_jobs_due",
        columns: ["tenant_no", "handler", "next_attempt_at", "id"],
        where: "status = 'pending'",
      },
      {
        // The next call for a row.
        name: "portico_handler_jobs_row",
        columns: ["tenant_no", "handler", "row_key", "event_transaction", "event_sequence", "id"],
        where: "status = 'pending'",
      },
      // Events that are still needed.
      { name: "portico_handler_jobs_event", columns: ["event_sequence"] },
      { name: "portico_handler_jobs_failed", columns: ["updated_at"], where: "status = 'failed'" },
    ],
  },
);
