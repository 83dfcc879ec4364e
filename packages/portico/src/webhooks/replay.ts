// Delivers past events of an endpoint again.

import type { Principals } from "../auth/principal.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { type FieldError, Problem } from "../errors.ts";
import { selectsType, unknownPatterns } from "../events/event-patterns.ts";
import { positionAfter, positionBefore } from "../events/event-search.ts";
import type { EventFeed } from "../events/feed.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { VisibleEvents } from "../subscriptions/visible-events.ts";
import { countPending, type NewDelivery, newDelivery } from "./delivery-queries.ts";
import { insertDeliveries } from "./delivery-writes.ts";
import type { Target } from "./endpoint-queries.ts";
import { wakeQueue } from "./endpoint-queue.ts";
import { requireEnabled, requireQueue, type WebhookContext } from "./test-event.ts";

/** Deliveries of one replay. */
export const maxReplayed = 10_000;
/** Replays add none to an endpoint that has as many pending ones. */
const maxPending = 20_000;
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

/** The deliveries of a replay, which are not queued yet. */
export interface PlannedReplay {
  readonly target: Target;
  readonly deliveries: readonly NewDelivery[];
}

/**
 * Finds the events of a time that the endpoint may get now and selects.
 * @throws Problem `conflict` for an endpoint that is disabled; `validation_error` for too many events
 */
export async function planReplay(
  { store, visible, events, principals }: ReplayContext,
  target: Target,
  { from, to, eventTypes = ["*"] }: ReplayRequest,
): Promise<PlannedReplay> {
  requireEnabled(target);
  const caller = await principals.current(target.principal);
  if (!caller) throw new Problem("conflict", "The credential of the endpoint is no longer valid.");
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
  return { target, deliveries: deliveries.sort(byPosition) };
}

/**
 * Queues the deliveries.
 * @param session of a transaction that queues all of them; by default, some are queued together
 * @returns how many
 * @throws Problem `conflict` if the endpoint was deleted meanwhile, or has too many pending deliveries
 */
export async function replay(
  { store }: Pick<ReplayContext, "store">,
  { target, deliveries }: PlannedReplay,
  session?: Session,
): Promise<number> {
  const { tenantId, endpointId } = target;
  for (let first = 0; first < deliveries.length; first += addedTogether) {
    const now = new Date().toISOString();
    const part = deliveries.slice(first, first + addedTogether);
    const add = async (own: Session): Promise<void> => {
      requireQueue(await wakeQueue(store).first(own, { tenantId, endpointId, dueAt: now }));
      const pending = await countPending(store).first(own, { tenantId, endpointId, max: maxPending });
      if (pending!.count >= maxPending) throw tooManyPending();
      await insertDeliveries(store, own, target, part, { now, dueAt: now });
    };
    await (session ? add(session) : store.transaction(add));
  }
  return deliveries.length;
}

function byPosition(one: NewDelivery, other: NewDelivery): number {
  return one.eventTransaction - other.eventTransaction || one.eventSequence - other.eventSequence;
}

function tooManyPending(): Problem {
  return new Problem(
    "conflict",
    `The endpoint has ${maxPending} pending deliveries. Replay further events when they have been delivered.`,
  );
}

function tooMany(): InvalidInput {
  const text = `is too early: a replay has at most ${maxReplayed} events; divide it into shorter times`;
  return new InvalidInput([{ field: "from", issue: "max", text }]);
}
