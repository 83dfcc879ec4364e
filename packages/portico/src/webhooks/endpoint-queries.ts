// The queries on webhook endpoints.

import { sql } from "kysely";
import type { Principal } from "../auth/principal.ts";
import { eventsTable } from "../events/event.ts";
import { Position } from "../events/position.ts";
import type { Session } from "../store/database.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import type { OfEndpoint } from "./endpoint-queue.ts";
import { endpointsTable } from "./endpoints-table.ts";
import type { StoredSecret } from "./secret.ts";
import { Start } from "./start.ts";

export const countEndpoints = defineQuery(
  [endpointsTable],
  (db, { tenantId }: ParametersOf<{ tenantId: string }>) =>
    db
      .selectFrom("webhook_endpoints")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("tenant_no", "=", tenantId),
);

export const selectIfEnabled = defineQuery(
  [endpointsTable],
  (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
    db
      .selectFrom("webhook_endpoints")
      .select("id")
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId)
      .where("status", "=", sql.lit("enabled")),
);

export const selectSecrets = defineQuery(
  [endpointsTable],
  (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
    db
      .selectFrom("webhook_endpoints")
      .select(sql<string>`secrets`.as("secrets"))
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId),
);

/** A snapshot lists the transactions in progress except its own, which may have a number already. */
const snapshotWithOwn = sql<string>`pg_current_snapshot()::text
  || coalesce(case when pg_current_snapshot()::text like '%:' then '' else ',' end
    || pg_current_xact_id_if_assigned()::text, '')`;

/** After which events are new: see `Start`. */
export const selectPresent = defineQuery([eventsTable], (db, _input, dialect) => {
  if (dialect.name === "sqlite")
    return db
      .selectFrom("events")
      .select([
        sql<number>`0`.as("transactionId"),
        sql<number>`coalesce(max(sequence), 0)`.as("sequence"),
        sql<string | null>`null`.as("snapshot"),
      ]);
  return db
    .selectFrom(sql<{ snapshot: string }>`(select ${snapshotWithOwn} as snapshot)`.as("present"))
    .select([
      sql<number>`split_part(snapshot, ':', 1)::bigint - 1`.as("transactionId"),
      sql<number>`${sql.lit(Number.MAX_SAFE_INTEGER)}::bigint`.as("sequence"),
      sql<string | null>`snapshot`.as("snapshot"),
    ]);
});

const selectEnabled = defineQuery([endpointsTable], (db) =>
  db
    .selectFrom("webhook_endpoints")
    .select(["start_transaction as transactionId", "start_sequence as sequence"])
    .where("status", "=", sql.lit("enabled"))
    .orderBy("start_transaction")
    .orderBy("start_sequence")
    .limit(sql.lit(1)),
);

/** The position from which the first of all enabled endpoints gets events; undefined if no endpoint is enabled. */
export async function firstStart(store: Store): Promise<Position | undefined> {
  const first = await selectEnabled(store).first(store.database);
  return first && new Position(first.transactionId, first.sequence);
}

const targetColumns = [
  "tenant_no as tenantId",
  "id",
  "url",
  "status",
  sql<string>`event_types`.as("eventTypes"),
  sql<string>`secrets`.as("secrets"),
  sql<string>`principal`.as("principal"),
  "start_transaction as startTransaction",
  "start_sequence as startSequence",
  "start_snapshot as startSnapshot",
] as const;

const selectOfTenant = defineQuery([endpointsTable], (db, { tenantId }: ParametersOf<{ tenantId: string }>) =>
  db
    .selectFrom("webhook_endpoints")
    .select([...targetColumns])
    .where("tenant_no", "=", tenantId)
    .where("status", "=", sql.lit("enabled")),
);

const selectOne = defineQuery([endpointsTable], (db, { tenantId, endpointId }: ParametersOf<OfEndpoint>) =>
  db
    .selectFrom("webhook_endpoints")
    .select([...targetColumns])
    .where("tenant_no", "=", tenantId)
    .where("id", "=", endpointId),
);

/** An endpoint, as far as sending needs it. */
export interface Target extends OfEndpoint {
  readonly url: string;
  readonly isEnabled: boolean;
  readonly eventTypes: readonly string[];
  readonly secrets: readonly StoredSecret[];
  readonly principal: Principal;
  readonly start: Start;
}

/** The enabled endpoints of a tenant. */
export async function enabledEndpoints(
  store: Store,
  session: Session,
  tenantId: string,
): Promise<readonly Target[]> {
  return (await selectOfTenant(store).all(session, { tenantId })).map(targetOf);
}

/** An endpoint; undefined if it was deleted. */
export async function findEndpoint(
  store: Store,
  session: Session,
  endpoint: OfEndpoint,
): Promise<Target | undefined> {
  const row = await selectOne(store).first(session, endpoint);
  return row && targetOf(row);
}

interface TargetRow extends Pick<Target, "tenantId" | "url"> {
  readonly id: string;
  readonly status: string;
  readonly eventTypes: string;
  readonly secrets: string;
  readonly principal: string;
  readonly startTransaction: number;
  readonly startSequence: number;
  readonly startSnapshot: string | null;
}

/** The hooks of the resource have written the JSON. */
function targetOf({
  tenantId,
  id,
  url,
  status,
  eventTypes,
  secrets,
  principal,
  ...start
}: TargetRow): Target {
  return {
    ...{ tenantId, endpointId: id, url },
    isEnabled: status === "enabled",
    eventTypes: JSON.parse(eventTypes),
    secrets: JSON.parse(secrets),
    principal: JSON.parse(principal),
    start: new Start(new Position(start.startTransaction, start.startSequence), start.startSnapshot),
  };
}
