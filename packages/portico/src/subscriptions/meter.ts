// What a credential's subscriptions are sent counts against its quota. Where no tokens are left, they wait.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { bytesOfToken } from "../query/answer-size.ts";

/**
 * Takes tokens of a caller's quota for what was sent already, though fewer may be left; none tells how it is.
 * @returns seconds until a token is there; 0 where one is left
 */
export type ChargeStream = (caller: Caller, tokens: number) => number | Promise<number>;

/** A quota that cannot be reached is asked again. */
const afterFailureSeconds = 1;
/** A quota can be raised meanwhile. */
const maxWaitSeconds = 60;

export class Meter {
  readonly #charge: ChargeStream;
  readonly #onError: (error: unknown) => void;
  /** Bytes that make no whole token yet. */
  #bytes = 0;
  /** Settled once there are tokens; undefined while some are left. */
  #waiting: Promise<void> | undefined;

  constructor(charge: ChargeStream, onError: (error: unknown) => void) {
    this.#charge = charge;
    this.#onError = onError;
  }

  /** Whether nothing may be sent, because no tokens are left. */
  get isEmpty(): boolean {
    return this.#waiting !== undefined;
  }

  /** Comes back once there are tokens. */
  async refilled(): Promise<void> {
    while (this.#waiting) await this.#waiting;
  }

  /** Charges what was sent, or read. */
  spend(caller: Caller, bytes: number): void {
    this.#bytes += bytes;
    const tokens = Math.floor(this.#bytes / bytesOfToken);
    if (tokens === 0) return;
    this.#bytes -= tokens * bytesOfToken;
    const seconds = this.#charge(caller, tokens);
    if (seconds === 0) return;
    // handled: `#wait` catches all.
    this.#waiting ??= this.#wait(caller, seconds);
  }

  async #wait(caller: Caller, first: number | Promise<number>): Promise<void> {
    let charged = first;
    for (;;) {
      let seconds = afterFailureSeconds;
      try {
        seconds = await charged;
      } catch (error) {
        this.#onError(error);
      }
      if (seconds === 0) break;
      await sleep(Math.min(seconds, maxWaitSeconds) * 1_000, undefined, { ref: false });
      charged = this.#charge(caller, 0);
    }
    this.#waiting = undefined;
  }
}
