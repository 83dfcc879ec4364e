// Events: what happened, recorded in the same transaction as the write that caused it.

import { newId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import { defineQuery, type ParametersOf, type Query } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import { parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { eventType } from "./event-type.ts";

export interface Event {
  readonly tenantId: string;
  readonly resource: ResourceModel;
  readonly action: "created" | "updated" | "deleted";
  readonly rowId: string;
  /** The row after the write (for a deletion, before it), as JSON text. */
  readonly row: string;
  readonly credentialId: string;
  readonly at: string;
}

/** `sequence` is the order in which the events of a resource are read. */
export const eventsTable = ownTable(
  "events",
  {
    sequence: "sequence",
    id: "text",
    tenant_id: "text",
    resource: "text",
    kind: "text",
    row_id: "text",
    row: "json",
    credential_id: "text",
    created_at: "timestamp",
  },
  {
    primaryKey: ["sequence"],
    indexes: [{ name: "portico_events_resource_sequence", columns: ["tenant_id", "resource", "sequence"] }],
  },
);

const insertEvent = defineQuery(
  [eventsTable],
  (db, { tenantId, rowId, row, credentialId, at }: ParametersOf<Event>) =>
    db.insertInto("events").values({
      id: parameter(() => newId("event")),
      tenant_id: tenantId,
      resource: parameter(({ resource }: Event) => resource.name),
      kind: parameter(({ resource, action }: Event) => eventType(resource.name, action)),
      row_id: rowId,
      row,
      credential_id: credentialId,
      created_at: at,
    }),
);

/** Writes events with the statement that fits the store's database. */
export class EventRecorder {
  readonly #insert: Query<unknown, Event>;

  constructor(store: Store) {
    this.#insert = insertEvent(store);
  }

  /** Records an event in the transaction of `session`. */
  record(session: Session, event: Event): Promise<void> {
    return this.#insert.run(session, event);
  }
}
