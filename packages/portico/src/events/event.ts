// Events: what happened, recorded in the same transaction as the write that caused it.

import { sql } from "kysely";
import { newId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Session, Statement } from "../store/database.ts";
import type { Column, Table } from "../store/schema/ddl.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { eventType } from "./event-type.ts";

export interface Event {
  readonly tenantId: string;
  readonly resource: ResourceModel;
  readonly action: "created" | "updated" | "deleted";
  readonly rowId: string;
  /** The row after the write (before it, where it was removed), as JSON text. */
  readonly row: string;
  readonly credentialId: string;
  readonly at: string;
}

const column = (name: string, type: Column["type"]): Column => ({
  name,
  type,
  isNullable: false,
  defaultValue: undefined,
  from: "events",
});

/** `sequence` is the order in which events of one resource are read again. */
export const eventsTable: Table = {
  name: "events",
  columns: [
    column("sequence", "sequence"),
    column("id", "text"),
    column("tenant_id", "text"),
    column("resource", "text"),
    column("kind", "text"),
    column("row_id", "text"),
    column("row", "json"),
    column("credential_id", "text"),
    column("created_at", "timestamp"),
  ],
  primaryKey: ["sequence"],
  indexes: [
    {
      name: "portico_events_resource_sequence",
      columns: ["tenant_id", "resource", "sequence"].map((name) => ({ name, isNullable: false })),
      isUnique: false,
    },
  ],
  foreignKeys: [],
  search: undefined,
};

/** Writes events with the statement that fits the store's database. */
export class EventRecorder {
  readonly #insert: Statement<Event>;

  constructor(store: Store) {
    const values = [
      parameter(() => newId("event")),
      parameter((event: Event) => event.tenantId),
      parameter((event: Event) => event.resource.name),
      parameter((event: Event) => eventType(event.resource.name, event.action)),
      parameter((event: Event) => event.rowId),
      parameter((event: Event) => event.row),
      parameter((event: Event) => event.credentialId),
      parameter((event: Event) => event.at),
    ];
    const names = eventsTable.columns
      .filter(({ type }) => type !== "sequence")
      .map(({ name }) => sql.ref(name));
    this.#insert = compile(
      store.dialect.builder,
      sql`insert into events (${sql.join(names)}) values (${sql.join(values)})`,
    );
  }

  /** Records an event in the transaction of `session`. */
  async record(session: Session, event: Event): Promise<void> {
    await session.query(this.#insert, event);
  }
}
