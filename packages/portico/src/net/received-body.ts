// The body of a request as it arrives, with bounds for slow senders. While nobody reads, the sender waits.

import type { Readable } from "node:stream";
import { Problem } from "../errors.ts";

/** How slowly a body may arrive. The time in which the server does not read is not counted. */
export interface SenderBounds {
  /** How long a sender may send nothing. */
  readonly maxSilenceMs: number;
  /** The minimum average speed after that time. */
  readonly minBytesPerSecond: number;
}

const senderBounds: SenderBounds = { maxSilenceMs: 30_000, minBytesPerSecond: 1024 };

export class ReceivedBody {
  readonly #body: Readable;
  readonly #chunks: NodeJS.AsyncIterator<Buffer>;
  readonly #bounds: SenderBounds;
  #waitedMs = 0;
  #bytes = 0;
  #fail: (problem: Problem) => void = () => {};

  constructor(body: Readable, bounds: SenderBounds = senderBounds) {
    this.#body = body;
    this.#bounds = bounds;
    // Otherwise the connection would be closed before the answer to an import that ends early.
    this.#chunks = body.iterator({ destroyOnReturn: false });
  }

  /** @returns undefined at the end @throws Problem `request_timeout`, or `malformed_request` for an incomplete body */
  async next(): Promise<Buffer | undefined> {
    const start = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
    this.#fail = reject;
    const timer = setTimeout(() => reject(tooSlow()), this.#bounds.maxSilenceMs);
    // handled: both outcomes are those of the promise that is awaited.
    this.#chunks.next().then(
      ({ done, value }) => resolve(done ? undefined : value),
      () => reject(incomplete()),
    );
    try {
      const chunk = await promise;
      this.#count(chunk?.length ?? 0, performance.now() - start);
      return chunk;
    } finally {
      clearTimeout(timer);
      this.#fail = () => {};
    }
  }

  /** Discards what has not been read: it would keep the connection from its next request. */
  discard(): void {
    // The iterator must end first: while it listens, the body does not flow.
    // handled: it only stops to listen.
    this.#chunks.return?.().then(
      () => this.#body.resume(),
      () => {},
    );
  }

  /** Lets a call of `next` in progress fail. */
  interrupt(problem: Problem): void {
    this.#fail(problem);
  }

  #count(bytes: number, waitedMs: number): void {
    const { maxSilenceMs, minBytesPerSecond } = this.#bounds;
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
    const isSlow = this.#bytes < (this.#waitedMs / 1000) * minBytesPerSecond;
    if (this.#waitedMs > maxSilenceMs && isSlow) throw tooSlow();
  }
}

function tooSlow(): Problem {
  return new Problem("request_timeout", "The body was sent too slowly.");
}

function incomplete(): Problem {
  return new Problem("malformed_request", "The connection was closed before the end of the body.");
}
