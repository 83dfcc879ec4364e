// Sends an event to an endpoint to try it.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import { newId } from "../lib/id.ts";
import { wholeRow } from "../query/selection.ts";
import type { Store } from "../store/store.ts";
import { webhookDeliveries } from "./delivery.ts";
import { insertDeliveries } from "./delivery-writes.ts";
import type { Target } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";

export const testEventType = "webhook.test";

/** A little longer than an attempt can take. */
const waitMs = 17_000;
const lookMs = 50;

export interface WebhookContext {
  readonly store: Store;
  readonly engine: Engine;
}

/** @throws Problem `conflict` for an endpoint that is disabled */
export function requireEnabled({ isEnabled }: Target): void {
  if (!isEnabled) throw new Problem("conflict", "The endpoint is disabled. Set its status to enabled first.");
}

/**
 * Queues a delivery of the type `webhook.test` before all others, and waits for the outcome of its first attempt.
 * @returns the delivery as JSON text; it is still pending if no server has attempted it in time
 * @throws Problem `conflict` for an endpoint that is disabled
 */
export async function sendTest(
  { store, engine }: WebhookContext,
  caller: Caller,
  target: Target,
): Promise<string> {
  requireEnabled(target);
  const { tenantId, endpointId } = target;
  const now = new Date().toISOString();
  const eventId = newId("event");
  const delivery = {
    ...{ eventId, eventType: testEventType, rowKey: `${testEventType} ${eventId}` },
    ...{ eventTransaction: 0, eventSequence: 0, payload: JSON.stringify({ endpointId }) },
  };
  const id = await store.transaction(async (session) => {
    await wakeQueue(store).run(session, { tenantId, endpointId, dueAt: now });
    const added = await insertDeliveries(store, session, target, [delivery], {
      ...{ now, dueAt: new Date(0).toISOString() },
    });
    return added[0]!;
  });
  const resource = engine.model.resource.get(webhookDeliveries.name)!;
  const read = { resource, selection: wholeRow(resource), id, conditions: [] };
  for (const until = Date.now() + waitMs; ; await sleep(lookMs)) {
    const text = await engine.get(caller, read);
    if (JSON.parse(text).attempts > 0 || JSON.parse(text).status !== "pending" || Date.now() >= until)
      return text;
  }
}
