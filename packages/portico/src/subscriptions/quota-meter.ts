// Charges the messages of a credential's subscriptions against its quota. While no tokens are left, they wait.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { bytesOfToken } from "../query/answer-size.ts";

/**
 * Charges a caller for what has been sent, even if fewer tokens are left. Charging 0 tokens reads the quota.
 * @returns seconds until a token is available; 0 if one is left
 */
export type ChargeStream = (caller: Caller, tokens: number) => number | Promise<number>;

/** Delay before the quota is charged again after an error. */
const retrySeconds = 1;
/** The quota is read again after this time at the latest, because an administrator can raise it. */
const maxWaitSeconds = 60;

export class QuotaMeter {
  readonly #charge: ChargeStream;
  readonly #onError: (error: unknown) => void;
  /** Bytes that have not been charged yet: less than one token, except while tokens are awaited. */
  #bytes = 0;
  /** Resolves once tokens are available; undefined while some are left. */
  #refill: Promise<void> | undefined;

  constructor(charge: ChargeStream, onError: (error: unknown) => void) {
    this.#charge = charge;
    this.#onError = onError;
  }

  /** Whether no tokens are left. Nothing may be sent. */
  get isEmpty(): boolean {
    return this.#refill !== undefined;
  }

  /** Resolves once tokens are available. */
  async refilled(): Promise<void> {
    while (this.#refill) await this.#refill;
  }

  /** Charges bytes that were sent or read. */
  charge(caller: Caller, bytes: number): void {
    this.#bytes += bytes;
    // `#waitForRefill` charges them.
    if (this.#refill) return;
    const tokens = this.#takeWholeTokens();
    if (tokens === 0) return;
    const seconds = this.#charge(caller, tokens);
    if (seconds === 0) return;
    // handled: `#waitForRefill` catches all errors.
    this.#refill = this.#waitForRefill(caller, tokens, seconds);
  }

  #takeWholeTokens(): number {
    const tokens = Math.floor(this.#bytes / bytesOfToken);
    this.#bytes -= tokens * bytesOfToken;
    return tokens;
  }

  /** Waits for the answer to a charge, and until tokens are available. Tokens whose charge failed are charged again. */
  async #waitForRefill(caller: Caller, charged: number, first: number | Promise<number>): Promise<void> {
    let tokens = charged;
    let answer: () => number | Promise<number> = () => first;
    for (;;) {
      let seconds = retrySeconds;
      try {
        seconds = await answer();
      } catch (error) {
        this.#bytes += tokens * bytesOfToken;
        this.#onError(error);
      }
      if (seconds === 0 && this.#bytes < bytesOfToken) break;
      if (seconds > 0) await sleep(Math.min(seconds, maxWaitSeconds) * 1_000, undefined, { ref: false });
      tokens = this.#takeWholeTokens();
      answer = () => this.#charge(caller, tokens);
    }
    this.#refill = undefined;
  }
}
