// The credentials of open connections are verified again and again, so that one that is revoked, expires or loses a
// scope ends what it opened within a second.

import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";

/** The headers that a credential came in. */
export interface Presented {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
}

/** Who presents a credential now. @throws Problem 401 */
export type Verify = (presented: Presented) => Promise<Caller>;

/** Whatever stays open with a credential. */
export interface Holder {
  /** The credential is good, and may do this by now. */
  update(caller: Caller): void;
  /** It is good no longer. */
  revoke(problem: Problem): void;
}

const everyMs = 500;

export class OpenCredentials {
  readonly #verify: Verify;
  readonly #onError: (error: unknown) => void;
  readonly #holders = new Map<string, { readonly presented: Presented; readonly holders: Set<Holder> }>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onError is told when a holder cannot take what was found; the others are told all the same */
  constructor(verify: Verify, onError: (error: unknown) => void) {
    this.#verify = verify;
    this.#onError = onError;
  }

  /** @returns what ends it */
  watch({ headers: { authorization, "x-api-key": apiKey } }: Presented, holder: Holder): () => void {
    const key = `${authorization}\n${apiKey}`;
    let open = this.#holders.get(key);
    if (!open) {
      const headers = { ...(authorization && { authorization }), ...(apiKey && { "x-api-key": apiKey }) };
      open = { presented: { headers, rawHeaders: [] }, holders: new Set() };
      this.#holders.set(key, open);
    }
    const { holders } = open;
    holders.add(holder);
    this.#timer ??= this.#lookLater();
    return () => {
      holders.delete(holder);
      if (holders.size === 0 && this.#holders.get(key)?.holders === holders) this.#holders.delete(key);
    };
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#look().catch(this.#onError);
    }, everyMs);
  }

  /** All at once: where the database is across a network, they are one statement. */
  async #look(): Promise<void> {
    const outcomes = await Promise.allSettled(
      [...this.#holders.values()].map((open) => this.#verifyOne(open.presented, open.holders)),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") this.#onError(outcome.reason);
    this.#timer = this.#holders.size > 0 ? this.#lookLater() : undefined;
  }

  async #verifyOne(presented: Presented, holders: ReadonlySet<Holder>): Promise<void> {
    try {
      const caller = await this.#verify(presented);
      for (const holder of holders) holder.update(caller);
    } catch (error) {
      // While the database cannot be asked, nothing can be told either.
      if (!(error instanceof Problem) || error.status !== 401) return;
      for (const holder of holders) holder.revoke(error);
    }
  }
}
