// Dispatches recorded events to the groups of subscriptions that select them.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { policyConditions, policyKey } from "../engine/policy.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import { areDecidedByRow } from "../query/condition.ts";
import type { EventSource, Topic } from "./event-source.ts";
import { parseEvents } from "./parsed-event.ts";
import type { SubscriptionPlan } from "./plan.ts";
import { type GroupMember, SubscriptionGroup } from "./subscription-group.ts";

/** Groups and subscriptions that read rows or earlier events concurrently: in all, and for one tenant. Each needs memory. */
const maxConcurrentReads = 4;
const maxConcurrentReadsOfTenant = 3;

export class EventDispatcher {
  readonly #engine: Engine;
  readonly #events: EventSource;
  readonly #onInternalError: (error: unknown) => void;
  /** Key of a topic -> key of a group -> the group. */
  readonly #groups = new Map<string, Map<string, SubscriptionGroup>>();
  readonly #readQueue = new FairQueue({
    slots: maxConcurrentReads,
    slotsPerGroup: maxConcurrentReadsOfTenant,
  });
  #listening: Promise<() => void> | undefined;

  constructor(engine: Engine, events: EventSource, onInternalError: (error: unknown) => void) {
    this.#engine = engine;
    this.#events = events;
    this.#onInternalError = onInternalError;
  }

  /** Starts listening for events, unless it listens already. */
  async listen(): Promise<void> {
    this.#listening ??= this.#events.listen((events) => this.#dispatch(events));
    const listening = this.#listening;
    try {
      await listening;
    } catch (error) {
      // Another attempt may be under way.
      if (this.#listening === listening) this.#listening = undefined;
      throw error;
    }
  }

  stop(): void {
    // `listen` reports a failure to its callers.
    this.#listening?.then(
      (stop) => stop(),
      () => {},
    );
    this.#listening = undefined;
  }

  /** Identifies the group for a plan and a caller: callers with the same policies share one. */
  groupKeyOf({ key }: SubscriptionPlan, caller: Caller): string {
    return `${key} ${policyKey(this.#engine.model, caller)}`;
  }

  /** Queues work that reads many rows for a tenant, within the limits on concurrent reads. */
  queueRead<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return this.#readQueue.run(work, tenantId);
  }

  join(member: GroupMember, plan: SubscriptionPlan): SubscriptionGroup {
    const { caller } = member;
    const topic = keyOf({ tenantId: caller.tenantId, resource: plan.resource.name });
    const key = this.groupKeyOf(plan, caller);
    const groups = this.#groups.get(topic) ?? new Map<string, SubscriptionGroup>();
    const group = groups.get(key) ?? this.#createGroup(key, plan, caller);
    this.#groups.set(topic, groups.set(key, group));
    group.members.add(member);
    return group;
  }

  #createGroup(key: string, plan: SubscriptionPlan, caller: Caller): SubscriptionGroup {
    const { tenantId } = caller;
    const isDecidedByRow =
      plan.isRowSufficient &&
      areDecidedByRow([...plan.conditions, ...policyConditions(caller, plan.resource)]);
    return new SubscriptionGroup({
      ...{ key, plan, tenantId, mustRead: !isDecidedByRow, engine: this.#engine, events: this.#events },
      queueRead: (work) => this.queueRead(tenantId, work),
    });
  }

  leave(member: GroupMember, group: SubscriptionGroup): void {
    group.members.delete(member);
    if (group.members.size > 0) return;
    const topic = keyOf({ tenantId: group.tenantId, resource: group.plan.resource.name });
    const groups = this.#groups.get(topic)!;
    groups.delete(group.key);
    if (groups.size === 0) this.#groups.delete(topic);
  }

  async #dispatch(events: readonly RecordedEvent[]): Promise<void> {
    const slice = new TimeSlice();
    for (const [topic, recorded] of Map.groupBy(events, keyOf)) {
      const groups = [...(this.#groups.get(topic)?.values() ?? [])];
      const kinds = new Set(groups.map(({ plan }) => plan.kind));
      const selected = recorded.filter(({ type: kind }) => kinds.has(kind));
      const parsed = await parseEvents(selected, this.#events, slice);
      const until = recorded.at(-1)!.position;
      for (const group of groups) {
        const delivery = group.deliver(parsed, until, slice);
        // A group that reads rows must not delay the others.
        if (group.mustRead) delivery.catch(this.#onInternalError);
        else await delivery;
      }
    }
  }
}

function keyOf({ tenantId, resource }: Topic): string {
  return `${tenantId} ${resource}`;
}
