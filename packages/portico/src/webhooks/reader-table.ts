// Where the reader of events stands.

import { ownTable } from "../store/own-tables/table.ts";

/** One row. Its position is that of the last event whose deliveries were added. */
export const readerTable = ownTable(
  "webhook_reader",
  {
    id: "text",
    transaction_id: "integer",
    sequence: "integer",
    lease_id: "text?",
    lease_until: "timestamp?",
  },
  { primaryKey: ["id"] },
);
