// Delivers past events of an endpoint again.

import type { Principals } from "../auth/principal.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { type FieldError, Problem } from "../errors.ts";
import { positionAfter, positionBefore } from "../events/event-search.ts";
import type { EventFeed } from "../events/feed.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Model } from "../model/model.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import { type NewDelivery, newDelivery } from "./delivery-queries.ts";
import { insertDeliveries } from "./delivery-writes.ts";
import type { Target } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";
import { selectsType, unknownPatterns } from "./event-types.ts";
import { requireEnabled, type WebhookContext } from "./test-event.ts";

/** Deliveries of one replay. */
export const maxReplayed = 10_000;
const addedTogether = 500;

export interface ReplayContext extends WebhookContext {
  readonly events: Pick<EventFeed, "readRange">;
  readonly visible: VisibleEvents;
  readonly principals: Pick<Principals, "current">;
}

export interface ReplayRequest {
  /** Times in milliseconds since 1970; both are included. */
  readonly from: number;
  readonly to: number;
  readonly eventTypes: readonly string[] | undefined;
}

/** @throws InvalidInput */
export function parseReplay(body: unknown, model: Model): ReplayRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new InvalidInput([{ field: "", issue: "type", text: "must be an object" }]);
  const { from, to, eventTypes, ...others } = body as Readonly<Record<string, unknown>>;
  const errors: FieldError[] = Object.keys(others).map((name) => ({
    ...{ field: name.slice(0, 100), issue: "unknown", text: "is not a field" },
  }));
  if (from === undefined || from === null)
    errors.push({ field: "from", issue: "required", text: "is required" });
  const fromTime = timeOf("from", from, errors) ?? 0;
  const toTime = timeOf("to", to, errors) ?? Date.now();
  if (errors.length === 0 && fromTime > toTime)
    errors.push({ field: "from", issue: "max", text: "must be earlier than to" });
  const types = typesOf(eventTypes, model, errors);
  if (errors.length > 0) throw new InvalidInput(errors);
  return { from: fromTime, to: toTime, eventTypes: types };
}

function timeOf(field: string, value: unknown, errors: FieldError[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  const timestamp = typeof value === "string" ? parseTimestamp(value) : undefined;
  if (timestamp !== undefined) return Date.parse(timestamp);
  errors.push({ field, issue: "format", text: "must be an ISO 8601 date and time" });
  return undefined;
}

function typesOf(value: unknown, model: Model, errors: FieldError[]): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const field = "eventTypes";
  if (!Array.isArray(value) || value.length > 100 || !value.every((each) => typeof each === "string"))
    errors.push({ field, issue: "type", text: "must be a list of at most 100 texts" });
  else if (unknownPatterns(value, model).length > 0)
    errors.push({ field, issue: "choice", text: "contains types that no event has" });
  else return value;
  return undefined;
}

/**
 * Queues deliveries of the events of a time that the endpoint may get now and selects.
 * @returns how many
 * @throws Problem `conflict` for an endpoint that is disabled; `validation_error` for too many events
 */
export async function replay(
  context: ReplayContext,
  target: Target,
  request: ReplayRequest,
): Promise<number> {
  requireEnabled(target);
  const deliveries = await eventsToReplay(context, target, request);
  const { store } = context;
  const { tenantId, endpointId } = target;
  for (let first = 0; first < deliveries.length; first += addedTogether) {
    const now = new Date().toISOString();
    const part = deliveries.slice(first, first + addedTogether);
    await store.transaction(async (session) => {
      await wakeQueue(store).run(session, { tenantId, endpointId, dueAt: now });
      await insertDeliveries(store, session, target, part, { now, dueAt: now });
    });
  }
  return deliveries.length;
}

async function eventsToReplay(
  { store, visible, events, principals }: ReplayContext,
  target: Target,
  { from, to, eventTypes = ["*"] }: ReplayRequest,
): Promise<readonly NewDelivery[]> {
  const caller = await principals.current(target.principal);
  if (!caller) throw new Problem("conflict", "The credential of the endpoint is not valid any more.");
  const { tenantId } = target;
  const [start, until] = await Promise.all([positionBefore(store, from), positionAfter(store, to)]);
  const deliveries: NewDelivery[] = [];
  for (const { name: resource } of visible.resourcesOf(caller))
    for (let after = start; ; ) {
      const page = await events.readRange({ tenantId, resource, after, until });
      const selected = page.filter(({ type, createdAt }) => {
        const time = Date.parse(createdAt);
        return (
          time >= from && time <= to && selectsType(target.eventTypes, type) && selectsType(eventTypes, type)
        );
      });
      const shown = await visible.of(caller, selected);
      deliveries.push(...shown.map(({ event }) => newDelivery(event)));
      if (deliveries.length > maxReplayed) throw tooMany();
      const last = page.at(-1);
      if (!last) break;
      after = last.position;
    }
  return deliveries.sort(byPosition);
}

function byPosition(one: NewDelivery, other: NewDelivery): number {
  return one.eventTransaction - other.eventTransaction || one.eventSequence - other.eventSequence;
}

function tooMany(): InvalidInput {
  const text = `is too early: a replay has at most ${maxReplayed} events; divide it into shorter times`;
  return new InvalidInput([{ field: "from", issue: "max", text }]);
}
