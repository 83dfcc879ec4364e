// Who listens to what, in groups of those who are told the same.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { policyConditions, policyKey } from "../engine/policy.ts";
import { Problem } from "../errors.ts";
import { isComparison } from "../plan/read.ts";
import type { RecordedEvent } from "../plan/recorded-event.ts";
import type { EventSource } from "./event-source.ts";
import { FairTurns } from "./fair-turns.ts";
import { type ChargeStream, Meter } from "./meter.ts";
import { Pauses } from "./pause.ts";
import { Group, readEvents } from "./subscriber-group.ts";
import { type Receiver, Subscription } from "./subscription.ts";
import type { SubscriptionPlan } from "./subscription-plan.ts";

/** Groups and subscriptions for which rows or earlier events are read at once, of all tenants and of one. */
const readingAtOnce = 4;
const readingAtOnceOfTenant = 3;

export interface SubscribersParts {
  readonly engine: Engine;
  readonly events: EventSource;
  /** Subscriptions that a credential may have open. */
  readonly mostSubscriptions: number;
  /** Charges a caller for what is sent to its subscriptions. */
  readonly charge: ChargeStream;
  /** Is told what should not have happened. */
  readonly onInternalError: (error: unknown) => void;
}

export class Subscribers {
  readonly #engine: Engine;
  readonly #events: EventSource;
  readonly #mostEach: number;
  readonly #charge: ChargeStream;
  readonly #onInternalError: (error: unknown) => void;
  /** Tenant and resource -> the groups that listen there. */
  readonly #groups = new Map<string, Map<string, Group>>();
  readonly #countOf = new Map<string, number>();
  /** Of each credential with open subscriptions. */
  readonly #meters = new Map<string, Meter>();
  #listening: Promise<() => void> | undefined;
  /** Reading what subscriptions are told takes memory for each: with its rows, and all that is selected around them. */
  readonly #turns = new FairTurns(readingAtOnce, readingAtOnceOfTenant);

  constructor({ engine, events, mostSubscriptions, charge, onInternalError }: SubscribersParts) {
    this.#engine = engine;
    this.#events = events;
    this.#mostEach = mostSubscriptions;
    this.#charge = charge;
    this.#onInternalError = onInternalError;
  }

  /**
   * A subscription that is still to begin.
   * @param question tells two documents with their variables apart
   * @throws Problem `rate_limited` for one too many
   */
  open(plan: SubscriptionPlan, question: string, caller: Caller, receiver: Receiver): Subscription {
    const { credentialId } = caller;
    const count = this.#countOf.get(credentialId) ?? 0;
    if (count >= this.#mostEach) throw tooMany(this.#mostEach);
    this.#countOf.set(credentialId, count + 1);
    const meter = this.#meters.get(credentialId) ?? new Meter(this.#charge, this.#onInternalError);
    this.#meters.set(credentialId, meter);
    const parts = { subscribers: this, events: this.#events, meter, plan, question };
    return new Subscription(parts, caller, receiver);
  }

  /** Makes sure that events are listened to. */
  async listen(): Promise<void> {
    this.#listening ??= this.#events.listen((events) => this.#tell(events));
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
  keyOf(question: string, caller: Caller): string {
    return `${question} ${policyKey(this.#engine.model, caller)}`;
  }

  /** Does what reads much for a tenant once few others do. */
  inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(tenantId, work);
  }

  join(subscription: Subscription): Group {
    const { plan, question, caller } = subscription;
    const place = placeOf(caller.tenantId, plan.resource.name);
    const key = this.keyOf(question, caller);
    const groups = this.#groups.get(place) ?? new Map<string, Group>();
    const group = groups.get(key) ?? this.#groupOf(key, plan, caller);
    this.#groups.set(place, groups.set(key, group));
    group.subscriptions.add(subscription);
    return group;
  }

  #groupOf(key: string, plan: SubscriptionPlan, caller: Caller): Group {
    const { tenantId } = caller;
    const isKnown = plan.isOwn && policyConditions(caller, plan.resource).every(isComparison);
    const inTurn = (work: () => Promise<void>): Promise<void> => this.inTurn(tenantId, work);
    const parts = { key, plan, tenantId, mustRead: !isKnown, inTurn };
    return new Group({ ...parts, engine: this.#engine, events: this.#events });
  }

  /** Call it once for each that was opened. */
  leave(subscription: Subscription, group: Group | undefined): void {
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

  #leaveGroup(subscription: Subscription, group: Group): void {
    group.subscriptions.delete(subscription);
    if (group.subscriptions.size > 0) return;
    const place = placeOf(group.tenantId, group.plan.resource.name);
    const groups = this.#groups.get(place)!;
    groups.delete(group.key);
    if (groups.size === 0) this.#groups.delete(place);
  }

  async #tell(events: readonly RecordedEvent[]): Promise<void> {
    const pauses = new Pauses();
    const byPlace = Map.groupBy(events, ({ tenantId, resource }) => placeOf(tenantId, resource));
    for (const [place, recorded] of byPlace) {
      const groups = [...(this.#groups.get(place)?.values() ?? [])];
      const kinds = new Set(groups.map(({ plan }) => plan.kind));
      const wanted = recorded.filter(({ kind }) => kinds.has(kind));
      const read = await readEvents(wanted, this.#events, pauses);
      const until = recorded.at(-1)!.sequence;
      for (const group of groups) {
        const told = group.tell(read, until, pauses);
        // Whoever must wait for rows is waited for by nobody: other tenants are told meanwhile.
        if (group.mustRead) told.catch(this.#onInternalError);
        else await told;
      }
    }
  }
}

function placeOf(tenantId: string, resource: string): string {
  return `${tenantId} ${resource}`;
}

function tooMany(most: number): Problem {
  return new Problem(
    "rate_limited",
    `The credential has ${most} open subscriptions; the limit is ${most}. End one before the next.`,
  );
}
