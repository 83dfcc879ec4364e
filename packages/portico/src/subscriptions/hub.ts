// Subscriptions to events, for every protocol: GraphQL subscriptions, webhooks, MCP.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import { EventDispatcher } from "./event-dispatcher.ts";
import type { EventSource } from "./event-source.ts";
import type { SubscriptionPlan } from "./plan.ts";
import { type ChargeStream, QuotaMeter } from "./quota-meter.ts";
import type { EndCause, ResultSink } from "./result-sink.ts";
import { Subscription } from "./subscription.ts";

export interface HubOptions {
  readonly engine: Engine;
  readonly events: EventSource;
  /** Subscriptions that a credential may have open. */
  readonly maxSubscriptions: number;
  /** Charges a caller for the messages of its subscriptions. */
  readonly charge: ChargeStream;
  /** Reports unexpected errors. */
  readonly onInternalError: (error: unknown) => void;
}

export interface SubscriptionRequest {
  readonly plan: SubscriptionPlan;
  /** The principal. Its tenant, policies and scopes decide which events are sent. */
  readonly caller: Caller;
  readonly sink: ResultSink;
  /** Called at most once, if the hub ends the subscription. Nothing is sent afterwards. */
  readonly onEnd: (cause: EndCause) => void;
}

/**
 * Sends events to subscriptions.
 *
 * - A subscription receives the events of its caller's tenant that its plan selects and whose rows the caller's policies
 *   let it see. The recorded row decides about its own fields, the present rows about related ones.
 * - Messages come in the order of the events, each once. To continue after an interruption, open another subscription
 *   and start it after the `position` of the last message received.
 * - A slow sink does not use memory: its subscription reads the events it missed from the database.
 * - The caller's quota is charged for the messages. The subscription waits while no tokens are left.
 *
 * ```ts
 * const subscription = hub.open({ plan, caller, sink, onEnd: (cause) => disable(endpoint, cause) });
 * await subscription.start(endpoint.lastPosition); // or start() for events from now on
 * subscription.update(currentCaller);              // whenever the credential is verified again
 * subscription.end();
 * ```
 */
export class SubscriptionHub {
  readonly #events: EventSource;
  readonly #maxSubscriptions: number;
  readonly #charge: ChargeStream;
  readonly #onInternalError: (error: unknown) => void;
  readonly #dispatcher: EventDispatcher;
  /** The credentials with open subscriptions, by id. */
  readonly #credentials = new Map<string, { count: number; readonly meter: QuotaMeter }>();

  constructor({ engine, events, maxSubscriptions, charge, onInternalError }: HubOptions) {
    this.#events = events;
    this.#maxSubscriptions = maxSubscriptions;
    this.#charge = charge;
    this.#onInternalError = onInternalError;
    this.#dispatcher = new EventDispatcher(engine, events, onInternalError);
  }

  /**
   * Opens a subscription. It sends nothing until `start` is called, and must be ended with `end` unless `onEnd` was
   * called. The plan's scopes are checked by `update`, not here.
   *
   * @throws Problem `rate_limited` if the credential has too many open subscriptions
   */
  open({ plan, caller, sink, onEnd }: SubscriptionRequest): Subscription {
    const { credentialId } = caller;
    const credential = this.#credentials.get(credentialId) ?? {
      count: 0,
      meter: new QuotaMeter(this.#charge, this.#onInternalError),
    };
    if (credential.count >= this.#maxSubscriptions) throw tooMany(this.#maxSubscriptions);
    credential.count += 1;
    this.#credentials.set(credentialId, credential);
    return new Subscription({
      ...{ dispatcher: this.#dispatcher, events: this.#events, meter: credential.meter },
      ...{ plan, caller, sink, onEnd },
      onClosed: () => this.#close(credentialId),
    });
  }

  #close(credentialId: string): void {
    const credential = this.#credentials.get(credentialId)!;
    credential.count -= 1;
    if (credential.count === 0) this.#credentials.delete(credentialId);
    if (this.#credentials.size === 0) this.#dispatcher.stop();
  }
}

function tooMany(max: number): Problem {
  return new Problem(
    "rate_limited",
    `The credential has ${max} open subscriptions, which is the limit. End one before opening another.`,
  );
}
