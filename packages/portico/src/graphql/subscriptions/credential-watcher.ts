// The credentials of open connections are verified again and again, so that one that is revoked, expires or loses a
// scope ends what it opened within a second.

import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";

/** The headers that a credential came in. */
export interface PresentedHeaders {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
}

/** Who presents a credential now. @throws Problem 401 */
export type Verify = (presented: PresentedHeaders) => Promise<Caller>;

/** Whatever stays open with a credential. */
export interface CredentialListener {
  /** The credential is good, and may do this by now. */
  update(caller: Caller): void;
  /** It is good no longer. */
  revoke(problem: Problem): void;
}

const intervalMs = 500;

export class CredentialWatcher {
  readonly #verify: Verify;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Map<
    string,
    { readonly presented: PresentedHeaders; readonly holders: Set<CredentialListener> }
  >();
  #timer: NodeJS.Timeout | undefined;

  /** @param onError is told when a holder cannot take what was found; the others are told all the same */
  constructor(verify: Verify, onError: (error: unknown) => void) {
    this.#verify = verify;
    this.#onError = onError;
  }

  /** @returns what ends it */
  watch(
    { headers: { authorization, "x-api-key": apiKey } }: PresentedHeaders,
    listener: CredentialListener,
  ): () => void {
    const key = `${authorization}\n${apiKey}`;
    let entry = this.#watched.get(key);
    if (!entry) {
      const headers = { ...(authorization && { authorization }), ...(apiKey && { "x-api-key": apiKey }) };
      entry = { presented: { headers, rawHeaders: [] }, holders: new Set() };
      this.#watched.set(key, entry);
    }
    const { holders: listeners } = entry;
    listeners.add(listener);
    this.#timer ??= this.#lookLater();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watched.get(key)?.holders === listeners) this.#watched.delete(key);
    };
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#poll().catch(this.#onError);
    }, intervalMs);
  }

  /** All at once: where the database is across a network, they are one statement. */
  async #poll(): Promise<void> {
    const outcomes = await Promise.allSettled(
      [...this.#watched.values()].map((entry) => this.#verifyOne(entry.presented, entry.holders)),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") this.#onError(outcome.reason);
    this.#timer = this.#watched.size > 0 ? this.#lookLater() : undefined;
  }

  async #verifyOne(presented: PresentedHeaders, listeners: ReadonlySet<CredentialListener>): Promise<void> {
    try {
      const caller = await this.#verify(presented);
      for (const listener of listeners) listener.update(caller);
    } catch (error) {
      // While the database cannot be asked, nothing can be told either.
      if (!(error instanceof Problem) || error.status !== 401) return;
      for (const listener of listeners) listener.revoke(error);
    }
  }
}
