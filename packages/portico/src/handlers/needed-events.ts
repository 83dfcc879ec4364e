// Which events are not deleted, however old they are: those of calls that are pending or have failed, and those for which
// calls have still to be queued.

import { sql } from "kysely";
import type { NeededEvents } from "../events/purged-events.ts";

export const areEventsOfHandlersNeeded: NeededEvents = (event) => {
  const column = (name: string) => sql.ref(`${event}.${name}`);
  return sql<boolean>`exists (select 1 from handler_jobs as j where j.event_sequence = ${column("sequence")})
    or (exists (select 1 from event_handlers as h
          where (h.start_transaction, h.start_sequence) < (${column("transaction_id")}, ${column("sequence")}))
      and not exists (select 1 from handler_reader as r
          where (r.transaction_id, r.sequence) >= (${column("transaction_id")}, ${column("sequence")})))`;
};
