// Which events are not deleted, however old they are: those of pending deliveries, and those for which deliveries have
// still to be added.

import { sql } from "kysely";
import type { NeededEvents } from "../events/purged-events.ts";

export const areEventsNeeded: NeededEvents = (event) => {
  const column = (name: string) => sql.ref(`${event}.${name}`);
  return sql<boolean>`exists (select 1 from webhook_deliveries as d
      where d.status = 'pending' and d.event_sequence = ${column("sequence")})
    or (exists (select 1 from webhook_endpoints as e where e.status = 'enabled'
          and (e.start_transaction, e.start_sequence) < (${column("transaction_id")}, ${column("sequence")}))
      and not exists (select 1 from webhook_reader as r
          where (r.transaction_id, r.sequence) >= (${column("transaction_id")}, ${column("sequence")})))`;
};
