// Events: what happened, recorded in the same transaction as the write that caused it.

import { sql } from "kysely";
import { newId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { EventAction, RowValues } from "../query/write.ts";
import type { CommitSignal } from "../store/commit-signal.ts";
import { type EventInsertion, eventColumns, type Stored } from "../store/compile/write.ts";
import type { Session, Statement } from "../store/database.ts";
import { defineQuery, type ParametersOf, type Query } from "../store/own-tables/query.ts";
import { ownTable } from "../store/own-tables/table.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { eventType } from "./event-type.ts";
import { storedParents, storedRow } from "./stored-names.ts";

export interface Event {
  readonly tenantId: string;
  readonly resource: ResourceModel;
  readonly action: EventAction;
  readonly rowId: string;
  /** The row after the write (for a deletion, before it), as JSON text. */
  readonly row: string;
  readonly credentialId: string;
  readonly at: string;
  /**
   * For a row that was deleted together with others: what policies may read of its parent, if that was deleted too, of the
   * parent's parent, and so on.
   */
  readonly deletedParents?: readonly RowValues[];
}

export function newEventId(): string {
  return newId("event");
}

/** Events of the same kind. */
export interface EventsOfRows extends Omit<Event, "rowId" | "row"> {
  /** The rows as JSON texts, by id. */
  readonly rows: ReadonlyMap<string, string>;
}

/**
 * The order of events is that of `sequence` on SQLite, and of `transaction_id` and `sequence` on PostgreSQL
 * (`position.ts`). The database fills both.
 */
export const eventsTable = ownTable(
  "events",
  {
    sequence: "sequence",
    id: "text",
    tenant_no: "tenant",
    resource: "text",
    kind: "text",
    row_id: "text",
    row: "json",
    credential_id: "text",
    created_at: "timestamp",
    deleted_parents: "json?",
    transaction_id: "transaction",
  },
  {
    primaryKey: ["sequence"],
    indexes: [
      {
        // In SQLite, each entry of an index ends with the number of the row, which is `sequence`.
        name: "portico_events_resource",
        columns: ["tenant_no", "resource"],
        database: "sqlite",
      },
      {
        name: "portico_events_resource_position",
        columns: ["tenant_no", "resource", "transaction_id", "sequence"],
        database: "postgres",
      },
      {
        name: "portico_events_position",
        columns: ["transaction_id", "sequence"],
        database: "postgres",
      },
    ],
  },
);

const insertEvent = defineQuery([eventsTable], (db, event: ParametersOf<Event>) =>
  db.insertInto("events").values(valuesOf(event)),
);

const insertEventWithParents = defineQuery([eventsTable], (db, event: ParametersOf<Event>) =>
  db.insertInto("events").values({
    ...valuesOf(event),
    deleted_parents: parameter(({ resource, deletedParents }: Event) =>
      storedParents(resource, deletedParents!),
    ),
  }),
);

/** The same for several rows, whose texts are members of one JSON text. PostgreSQL only. */
const insertMany = ({ tenants }: Store) => sql`insert into events
    (id, tenant_no, resource, kind, row_id, row, credential_id, created_at, deleted_parents)
  select n.id, ${parameter(({ tenantId }: EventsOfRows) => tenants.boundNumberOf(tenantId))}::integer,
    ${parameter(({ resource }: EventsOfRows) => resource.storedName)}::text,
    ${parameter(({ resource, action }: EventsOfRows) => eventType(resource.storedName, action))}::text, n.row_id, n.row,
    ${parameter(({ credentialId }: EventsOfRows) => credentialId)}::text,
    ${parameter(({ at }: EventsOfRows) => at)}::timestamptz,
    ${parameter(({ resource, deletedParents }: EventsOfRows) => (deletedParents ? storedParents(resource, deletedParents) : null))}::json
  from json_to_recordset(${parameter((events: EventsOfRows) => textOfRows(events))}::json)
    as n (id text, row_id text, row json)`;

/** The same for the rows of a write, in its statement. PostgreSQL only. */
const eventInsertion: EventInsertion = ({ storedName }, action) => sql`insert into events
    (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
  select ${sql.ref(eventColumns.id)}, ${parameter(({ tenantNo }: Stored<unknown>) => tenantNo)}::integer,
    ${sql.lit(storedName)}, ${sql.lit(eventType(storedName, action))}, id, recorded,
    ${sql.ref(eventColumns.credentialId)}, ${sql.ref(eventColumns.at)}
  from recordable`;

function textOfRows({ resource, rows }: EventsOfRows): string {
  const texts = [...rows].map(
    ([rowId, text]) =>
      `{"id":"${newEventId()}","row_id":${JSON.stringify(rowId)},"row":${storedRow(resource, text)}}`,
  );
  return `[${texts.join()}]`;
}

function valuesOf({ tenantId, rowId, credentialId, at }: ParametersOf<Event>) {
  return {
    id: parameter<Event, string>(() => newEventId()),
    tenant_no: tenantId,
    resource: parameter<Event, string>(({ resource }) => resource.storedName),
    kind: parameter<Event, string>(({ resource, action }) => eventType(resource.storedName, action)),
    row_id: rowId,
    row: parameter<Event, string>(({ resource, row }) => storedRow(resource, row)),
    credential_id: credentialId,
    created_at: at,
  };
}

/** Writes events with the statement that fits the store's database. */
export class EventRecorder {
  /** Records an event in the statement of its write; undefined on SQLite, which has no round trips to save. */
  readonly insertion: EventInsertion | undefined;
  readonly #commits: CommitSignal;
  readonly #insert: Query<unknown, Event>;
  readonly #insertWithParents: Query<unknown, Event>;
  /** Undefined on SQLite, too. */
  readonly #insertMany: Statement<EventsOfRows> | undefined;

  constructor(store: Store) {
    this.#commits = store.commits;
    this.insertion = store.database.isRemote ? eventInsertion : undefined;
    this.#insert = insertEvent(store);
    this.#insertWithParents = insertEventWithParents(store);
    this.#insertMany = store.database.isRemote
      ? compile(store.dialect.builder, insertMany(store))
      : undefined;
  }

  /** Records an event in the transaction of `session`. */
  record(session: Session, event: Event): Promise<void> {
    this.#commits.recorded();
    return (event.deletedParents ? this.#insertWithParents : this.#insert).run(session, event);
  }

  /** Records the events of several rows, in the order of the rows. */
  async recordMany(session: Session, events: EventsOfRows): Promise<void> {
    if (this.#insertMany) {
      this.#commits.recorded();
      // The tenant is known, because its rows were written.
      await session.query(this.#insertMany, events);
      return;
    }
    const { rows, ...event } = events;
    for (const [rowId, row] of rows) await this.record(session, { ...event, rowId, row });
  }
}
