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

/** How long the outcome of a test may take beyond the time for an attempt. */
const extraMs = 2_000;
/** How often the delivery is read: less and less often. */
const pollMs = { first: 20, last: 500, growth: 1.3 };

export interface WebhookContext {
  readonly store: Store;
  readonly engine: Engine;
  /** How long an attempt may take. */
  readonly attemptTimeoutMs: number;
}

/** @throws Problem `conflict` for an endpoint that is disabled */
export function requireEnabled({ isEnabled }: Target): void {
  if (!isEnabled) throw new Problem("conflict", "The endpoint is disabled. Set its status to enabled first.");
}

/** @throws Problem `conflict` if the endpoint was deleted since it was found */
export function requireQueue(queue: object | undefined): void {
  if (!queue) throw new Problem("conflict", "The endpoint was deleted meanwhile.");
}

/**
 * Queues a delivery of the type `webhook.test` before all others, and waits for the outcome of its first attempt.
 * @returns the delivery as JSON text; it is still pending if no server has attempted it in time
 * @throws Problem `conflict` for an endpoint that is disabled
 */
export async function sendTest(
  { store, engine, attemptTimeoutMs }: WebhookContext,
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
    requireQueue(await wakeQueue(store).first(session, { tenantId, endpointId, dueAt: now }));
    const added = await insertDeliveries(store, session, target, [delivery], {
      ...{ now, dueAt: new Date(0).toISOString() },
    });
    return added[0]!;
  });
  const resource = engine.model.resource.get(webhookDeliveries.name)!;
  const read = { resource, selection: wholeRow(resource), id, conditions: [] };
  const until = Date.now() + attemptTimeoutMs + extraMs;
  for (let waitMs = pollMs.first; ; waitMs = Math.min(pollMs.last, waitMs * pollMs.growth)) {
    await sleep(waitMs);
    const text = await engine.get(caller, read);
    const { attempts, status } = JSON.parse(text);
    if (attempts > 0 || status !== "pending" || Date.now() >= until) return text;
  }
}
