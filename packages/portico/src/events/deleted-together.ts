// The rows that were deleted in one transaction. What related rows decide about a deletion is decided as it was before the
// transaction, so the rows that it deleted count: those who saw a project because of its members learn that it was deleted
// with its members. The events of the transaction have all of these rows.

import { sql } from "kysely";
import { BoundedMap } from "../lib/bounded-map.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ResourceModel } from "../model/model.ts";
import { policyValues } from "../query/policy-values.ts";
import type { RowValues } from "../query/write.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { eventsTable } from "./event.ts";
import { eventType } from "./event-type.ts";
import type { Position } from "./position.ts";
import { currentRow } from "./stored-names.ts";

/** The deletion of a row together with others. */
export interface Deletion {
  readonly tenantId: string;
  readonly position: Position;
  /** When the write began, which is the same for all events of the deletion. */
  readonly at: string;
}

interface DeletedInput {
  readonly tenantId: string;
  readonly resource: string;
  readonly kind: string;
  readonly transactionId: number;
  readonly sequence: number;
  readonly at: string;
  /** The sequence number of the last event of the batch before. */
  readonly after: number;
}

/** Rows that are read at once. Each may be as large as the body of a request, so they are few. */
const maxBatchRows = 20;

/**
 * The first rows of a resource that were deleted together with others in a transaction. SQLite has one writer, so the events of a
 * transaction follow each other, and all have the time of its write.
 */
const selectDeleted = defineQuery(
  [eventsTable],
  (db, input: ParametersOf<DeletedInput>, { name }) => {
    const other = (comparison: string, order: string) =>
      sql`(select sequence from events where sequence ${sql.raw(comparison)} ${input.sequence}
        and created_at <> ${input.at} order by sequence ${sql.raw(order)} limit 1)`;
    const isOfTransaction =
      name === "sqlite"
        ? sql<boolean>`sequence > coalesce(${other("<", "desc")}, 0)
            and sequence < coalesce(${other(">", "asc")}, ${sql.lit(Number.MAX_SAFE_INTEGER)})`
        : sql<boolean>`transaction_id = ${input.transactionId}::bigint`;
    return db
      .selectFrom("events")
      .select(["sequence", "row"])
      .where("tenant_no", "=", input.tenantId)
      .where("resource", "=", input.resource)
      .where("kind", "=", input.kind)
      .where("deleted_parents", "is not", null)
      .where(isOfTransaction)
      .where("sequence", ">", input.after)
      .orderBy("sequence")
      .limit(sql.lit(maxBatchRows));
  },
  { mayScan: true, tenantOf: ({ tenantId }: DeletedInput) => tenantId },
);

/** Rows that are kept in memory, because the events of a deletion follow each other. */
const maxKept = 20_000;

interface Kept {
  readonly rows: Promise<readonly RowValues[]>;
  weight: number;
}

export class DeletedTogether {
  readonly #store: Store;
  readonly #kept = new BoundedMap<string, Kept>(maxKept, (_key, { weight }) => weight);

  constructor(store: Store) {
    this.#store = store;
  }

  /** What policies may read of the rows of a resource that were deleted in the transaction of a deletion. */
  rowsOf(resource: ResourceModel, deletion: Deletion): Promise<readonly RowValues[]> {
    const key = `${transactionKey(deletion)} ${resource.name}`;
    const known = this.#kept.get(key);
    if (known) return known.rows;
    const kept: Kept = { rows: this.#read(resource, deletion), weight: 1 };
    this.#kept.set(key, kept);
    kept.rows.then(
      ({ length }) => {
        this.#kept.delete(key);
        kept.weight = length + 1;
        this.#kept.set(key, kept);
      },
      // The caller gets the error; the next one reads again.
      () => this.#kept.delete(key),
    );
    return kept.rows;
  }

  async #read(resource: ResourceModel, { tenantId, position, at }: Deletion): Promise<readonly RowValues[]> {
    const { transactionId, sequence } = position;
    const { storedName } = resource;
    const kind = eventType(storedName, "deleted");
    const input = { tenantId, resource: storedName, kind, transactionId, sequence, at };
    const slice = new TimeSlice();
    const rows: RowValues[] = [];
    for (let after = 0; ; ) {
      const batch = await selectDeleted(this.#store).all(this.#store.database, { ...input, after });
      for (const { row } of batch) {
        if (slice.isOver) await slice.yield();
        rows.push(policyValues(resource, JSON.parse(currentRow(resource, row))));
      }
      if (batch.length < maxBatchRows) return rows;
      after = batch.at(-1)!.sequence;
    }
  }
}

/** Identifies the transaction of a deletion. */
export function transactionKey({ tenantId, position, at }: Deletion): string {
  return `${tenantId} ${position.transactionId} ${at}`;
}
