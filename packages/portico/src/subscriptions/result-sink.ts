// What the hub passes to the owner of a subscription: its messages, and why it ended.

import type { Problem } from "../errors.ts";
import type { Position } from "../events/position.ts";

/** An event, rendered for a subscription. */
export interface Message {
  /** The position of the event. A subscription can resume after it. */
  readonly position: Position;
  /** What `SubscriptionPlan.render` returned. */
  readonly text: string;
  /** Length of `text` in UTF-8. */
  readonly bytes: number;
}

/** Receives the messages of one subscription. WebSockets and server-sent event streams implement it. */
export interface ResultSink {
  /**
   * Bytes that were sent and have not left the process yet. The subscription stops sending while there are many; it
   * reads the events it missed from the database once they have left.
   */
  readonly pendingBytes: number;
  /** Sends messages, in the order of their events. Must not throw. */
  send(messages: readonly Message[]): void;
}

/** Why the hub ended a subscription. */
export type EndCause =
  /** Reading or rendering an event failed. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** The caller has lost a scope, or its policies now select other rows. */
  | { readonly kind: "forbidden"; readonly problem: Problem }
  /** The sink has accepted nothing for five seconds. */
  | { readonly kind: "tooSlow" };
