// Where a durable reader of events stands: one that queues work for them.

import { type OwnTable, ownTable } from "../store/own-tables/table.ts";

const columns = {
  id: "text",
  transaction_id: "integer",
  sequence: "integer",
  lease_id: "text?",
  lease_until: "timestamp?",
} as const;

/** A table with one row. Its position is that of the last event for which work was queued. */
export function readerTable<const Name extends string>(name: Name): OwnTable<Name, typeof columns> {
  return ownTable(name, columns, { primaryKey: ["id"] });
}
