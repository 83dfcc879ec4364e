// Verifies the credentials of open connections again and again. One that is revoked, expires or loses a scope ends its
// connections and subscriptions within a second.

import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { PresentedHeaders } from "../../lib/presented-headers.ts";

/** Returns the current caller for a credential. @throws Problem 401 */
export type Verify = (presented: PresentedHeaders) => Promise<Caller>;

/** An open connection or stream. */
export interface CredentialListener {
  /** The credential is valid. `caller` has its current scopes and role. */
  update(caller: Caller): void;
  /** The credential is no longer valid. */
  revoke(problem: Problem): void;
}

interface WatchedCredential {
  readonly presented: PresentedHeaders;
  readonly listeners: Set<CredentialListener>;
}

const intervalMs = 500;

export class CredentialWatcher {
  readonly #verify: Verify;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Map<string, WatchedCredential>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onError called when a listener throws; the other listeners are still called */
  constructor(verify: Verify, onError: (error: unknown) => void) {
    this.#verify = verify;
    this.#onError = onError;
  }

  /** @returns a function that stops watching */
  watch(
    { headers: { authorization, "x-api-key": apiKey } }: PresentedHeaders,
    listener: CredentialListener,
  ): () => void {
    const key = `${authorization}\n${apiKey}`;
    let watched = this.#watched.get(key);
    if (!watched) {
      const headers = { ...(authorization && { authorization }), ...(apiKey && { "x-api-key": apiKey }) };
      watched = { presented: { headers, rawHeaders: [] }, listeners: new Set() };
      this.#watched.set(key, watched);
    }
    const { listeners } = watched;
    listeners.add(listener);
    this.#timer ??= this.#schedule();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watched.get(key)?.listeners === listeners) this.#watched.delete(key);
    };
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#poll().catch(this.#onError);
    }, intervalMs);
  }

  /** Verifies all credentials concurrently: the database answers them in one statement where it is remote. */
  async #poll(): Promise<void> {
    const outcomes = await Promise.allSettled(
      [...this.#watched.values()].map((watched) => this.#verifyOne(watched)),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") this.#onError(outcome.reason);
    this.#timer = this.#watched.size > 0 ? this.#schedule() : undefined;
  }

  async #verifyOne({ presented, listeners }: WatchedCredential): Promise<void> {
    const notify = await this.#outcomeOf(presented);
    if (!notify) return;
    for (const listener of listeners)
      try {
        notify(listener);
      } catch (error) {
        this.#onError(error);
      }
  }

  /** Calls a listener with the current caller or the refusal; undefined if the credential could not be verified. */
  async #outcomeOf(
    presented: PresentedHeaders,
  ): Promise<((listener: CredentialListener) => void) | undefined> {
    try {
      const caller = await this.#verify(presented);
      return (listener) => listener.update(caller);
    } catch (error) {
      // An outage of the database does not revoke a credential.
      if (!(error instanceof Problem) || error.status !== 401) return undefined;
      return (listener) => listener.revoke(error);
    }
  }
}
