// Who listens to what, in groups of those who are told the same.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { policyConditions, policyKey } from "../engine/policy.ts";
import { Problem } from "../errors.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import { isComparison } from "../query/read.ts";
import type { EventSource } from "./event-source.ts";
import { readEvents, SubscriptionGroup } from "./group.ts";
import { type ChargeStream, Meter } from "./meter.ts";
import type { SubscriptionPlan } from "./plan.ts";
import { Subscription, type SubscriptionSink } from "./subscription.ts";

/** Groups and subscriptions for which rows or earlier events are read at once, of all tenants and of one. */
const readingAtOnce = 4;
const readingAtOnceOfTenant = 3;

export interface SubscribersParts {
  readonly engine: Engine;
  readonly events: EventSource;
  /** Subscriptions that a credential may have open. */
  readonly maxSubscriptions: number;
  /** Charges a caller for what is sent to its subscriptions. */
  readonly charge: ChargeStream;
  /** Is told what should not have happened. */
  readonly onInternalError: (error: unknown) => void;
}

export class SubscriptionHub {
  readonly #engine: Engine;
  readonly #events: EventSource;
  readonly #maxPerCredential: number;
  readonly #charge: ChargeStream;
  readonly #onInternalError: (error: unknown) => void;
  /** Tenant and resource -> the groups that listen there. */
  readonly #groups = new Map<string, Map<string, SubscriptionGroup>>();
  readonly #countOf = new Map<string, number>();
  /** Of each credential with open subscriptions. */
  readonly #meters = new Map<string, Meter>();
  #listening: Promise<() => void> | undefined;
  /** Reading what subscriptions are told takes memory for each: with its rows, and all that is selected around them. */
  readonly #queue = new FairQueue({ slots: readingAtOnce, slotsPerGroup: readingAtOnceOfTenant });

  constructor({ engine, events, maxSubscriptions, charge, onInternalError }: SubscribersParts) {
    this.#engine = engine;
    this.#events = events;
    this.#maxPerCredential = maxSubscriptions;
    this.#charge = charge;
    this.#onInternalError = onInternalError;
  }

  /**
   * A subscription that is still to begin.
   * @param identity tells two documents with their variables apart
   * @throws Problem `rate_limited` for one too many
   */
  open(plan: SubscriptionPlan, identity: string, caller: Caller, sink: SubscriptionSink): Subscription {
    const { credentialId } = caller;
    const count = this.#countOf.get(credentialId) ?? 0;
    if (count >= this.#maxPerCredential) throw tooMany(this.#maxPerCredential);
    this.#countOf.set(credentialId, count + 1);
    const meter = this.#meters.get(credentialId) ?? new Meter(this.#charge, this.#onInternalError);
    this.#meters.set(credentialId, meter);
    const parts = { hub: this, events: this.#events, meter, plan, identity };
    return new Subscription(parts, caller, sink);
  }

  /** Makes sure that events are listened to. */
  async listen(): Promise<void> {
    this.#listening ??= this.#events.listen((events) => this.#deliver(events));
    const listening = this.#listening;
    try {
      await listening;
    } catch (error) {
      // Another attempt may have begun meanwhile.
      if (this.#listening === listening) this.#listening = undefined;
      throw error;
    }
  }

  /** What makes callers different who ask for the same: what their policies leave to them. */
  keyOf(identity: string, caller: Caller): string {
    return `${identity} ${policyKey(this.#engine.model, caller)}`;
  }

  /** Does what reads much for a tenant once few others do. */
  inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work, tenantId);
  }

  join(subscription: Subscription): SubscriptionGroup {
    const { plan, identity, caller } = subscription;
    const channel = channelOf(caller.tenantId, plan.resource.name);
    const key = this.keyOf(identity, caller);
    const groups = this.#groups.get(channel) ?? new Map<string, SubscriptionGroup>();
    const group = groups.get(key) ?? this.#groupOf(key, plan, caller);
    this.#groups.set(channel, groups.set(key, group));
    group.subscriptions.add(subscription);
    return group;
  }

  #groupOf(key: string, plan: SubscriptionPlan, caller: Caller): SubscriptionGroup {
    const { tenantId } = caller;
    const isKnown = plan.isAnsweredByEvent && policyConditions(caller, plan.resource).every(isComparison);
    const inTurn = (work: () => Promise<void>): Promise<void> => this.inTurn(tenantId, work);
    const parts = { key, plan, tenantId, mustRead: !isKnown, inTurn };
    return new SubscriptionGroup({ ...parts, engine: this.#engine, events: this.#events });
  }

  /** Call it once for each that was opened. */
  leave(subscription: Subscription, group: SubscriptionGroup | undefined): void {
    const { credentialId } = subscription.caller;
    const count = this.#countOf.get(credentialId)! - 1;
    if (count > 0) this.#countOf.set(credentialId, count);
    else {
      this.#countOf.delete(credentialId);
      this.#meters.delete(credentialId);
    }
    if (group) this.#leaveGroup(subscription, group);
    if (this.#countOf.size > 0) return;
    // A failure is reported to those who wait for it in `listen`.
    this.#listening?.then(
      (stop) => stop(),
      () => {},
    );
    this.#listening = undefined;
  }

  #leaveGroup(subscription: Subscription, group: SubscriptionGroup): void {
    group.subscriptions.delete(subscription);
    if (group.subscriptions.size > 0) return;
    const channel = channelOf(group.tenantId, group.plan.resource.name);
    const groups = this.#groups.get(channel)!;
    groups.delete(group.key);
    if (groups.size === 0) this.#groups.delete(channel);
  }

  async #deliver(events: readonly RecordedEvent[]): Promise<void> {
    const slice = new TimeSlice();
    const byChannel = Map.groupBy(events, ({ tenantId, resource }) => channelOf(tenantId, resource));
    for (const [channel, recorded] of byChannel) {
      const groups = [...(this.#groups.get(channel)?.values() ?? [])];
      const kinds = new Set(groups.map(({ plan }) => plan.kind));
      const wanted = recorded.filter(({ kind }) => kinds.has(kind));
      const parsed = await readEvents(wanted, this.#events, slice);
      const until = recorded.at(-1)!.sequence;
      for (const group of groups) {
        const deliveries = group.deliver(parsed, until, slice);
        // Whoever must wait for rows is waited for by nobody: other tenants are told meanwhile.
        if (group.mustRead) deliveries.catch(this.#onInternalError);
        else await deliveries;
      }
    }
  }
}

function channelOf(tenantId: string, resource: string): string {
  return `${tenantId} ${resource}`;
}

function tooMany(max: number): Problem {
  return new Problem(
    "rate_limited",
    `The credential has ${max} open subscriptions; the limit is ${max}. End one before the next.`,
  );
}
